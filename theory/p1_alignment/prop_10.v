(* Proposition 10 of Cortes, Mohri and Rostamizadeh (2012).

   What is proved, over the real numbers of Coq's standard library, for a matrix M and a vector a
   indexed by any finite list: if v minimizes u'Mu - 2 u'a over u >= 0 and v'Mv > 0, then

   - minimum_meets_labels: v'Mv = v'a;
   - prop_10: rho_0(mu) = mu'a/(mu'M mu)^(1/2) equals (v'Mv)^(1/2) for mu = v/|v|.

   M need be neither symmetric nor positive semi-definite. *)

From Coq Require Import Reals List Lra.
Import ListNotations.
Open Scope R_scope.

Section Alignf.

Variable I : Type.
Variable index : list I.
Variable M : I -> I -> R.
Variable a : I -> R.

Definition sum (f : I -> R) : R := fold_right (fun i total => f i + total) 0 index.

Definition dot (u v : I -> R) : R := sum (fun i => u i * v i).

(* u'Mu *)
Definition form (u : I -> R) : R := sum (fun i => u i * sum (fun j => M i j * u j)).

Definition objective (u : I -> R) : R := form u - 2 * dot u a.

Definition nonnegative (u : I -> R) : Prop := forall i, 0 <= u i.

Definition is_minimum (v : I -> R) : Prop :=
  nonnegative v /\ forall u, nonnegative u -> objective v <= objective u.

Definition rho_0 (mu : I -> R) : R := dot mu a / sqrt (form mu).

Definition norm (u : I -> R) : R := sqrt (dot u u).

Definition scale (t : R) (u : I -> R) (i : I) : R := t * u i.

Lemma sum_ext f g : (forall i, f i = g i) -> sum f = sum g.
Proof.
  intros H; unfold sum; induction index as [|i rest IH]; simpl; [reflexivity|].
  now rewrite H, IH.
Qed.

Lemma sum_scale t f : sum (fun i => t * f i) = t * sum f.
Proof. unfold sum; induction index as [|i rest IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma dot_scale t u : dot (scale t u) a = t * dot u a.
Proof. unfold dot; rewrite <- sum_scale; apply sum_ext; intro; unfold scale; ring. Qed.

Lemma form_scale t u : form (scale t u) = t * t * form u.
Proof.
  unfold form; rewrite <- sum_scale; apply sum_ext; intro i.
  rewrite (sum_ext _ (fun j => t * (M i j * u j))) by (intro; unfold scale; ring).
  rewrite sum_scale; unfold scale; ring.
Qed.

Lemma objective_scale t u : objective (scale t u) = t * t * form u - 2 * t * dot u a.
Proof. unfold objective; rewrite form_scale, dot_scale; ring. Qed.

Lemma minimum_meets_labels v : is_minimum v -> 0 < form v -> form v = dot v a.
Proof.
  intros [Hv best] pos.
  assert (along : forall t, 0 <= t ->
    form v - 2 * dot v a <= t * t * form v - 2 * t * dot v a).
  { intros t Ht; rewrite <- objective_scale; apply best.
    intro i; unfold scale; now apply Rmult_le_pos. }
  assert (labels : 0 <= dot v a) by (assert (H := along 0 (Rle_refl 0)); lra).
  assert (Hinv : 0 < / form v) by now apply Rinv_0_lt_compat.
  assert (H : form v - 2 * dot v a <= - (dot v a * dot v a * / form v)).
  { replace (- (dot v a * dot v a * / form v)) with
      (dot v a * / form v * (dot v a * / form v) * form v
        - 2 * (dot v a * / form v) * dot v a) by (field; lra).
    apply along, Rmult_le_pos; [exact labels|now left]. }
  assert (square : (form v - dot v a) * (form v - dot v a) <= 0).
  { replace ((form v - dot v a) * (form v - dot v a)) with
      (form v * (form v - 2 * dot v a - - (dot v a * dot v a * / form v))) by (field; lra).
    replace 0 with (form v * 0) by ring.
    apply Rmult_le_compat_l; lra. }
  apply Rminus_diag_uniq, Rsqr_0_uniq, Rle_antisym; [exact square|apply Rle_0_sqr].
Qed.

Theorem prop_10 v : is_minimum v -> 0 < form v -> 0 < norm v ->
  rho_0 (scale (/ norm v) v) = sqrt (form v).
Proof.
  intros Hmin pos Hnorm; unfold rho_0.
  rewrite dot_scale, form_scale, <- (minimum_meets_labels v Hmin pos).
  assert (Hinv : 0 < / norm v) by now apply Rinv_0_lt_compat.
  rewrite sqrt_mult by (try apply Rmult_le_pos; lra).
  rewrite sqrt_square by lra.
  assert (Hroot : 0 < sqrt (form v)) by now apply sqrt_lt_R0.
  rewrite <- (sqrt_sqrt (form v)) at 1 by lra.
  field; lra.
Qed.

End Alignf.

(* scripts/lab/check_proofs reads what these rest on. *)
Definition checked := prop_10.
Print Assumptions checked.
