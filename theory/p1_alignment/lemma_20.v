(* Lemma 20 of Cortes, Mohri and Rostamizadeh (2012), and its corollary.

   What is proved, over the real numbers of Coq's standard library, for vectors v and w indexed by
   any finite list, both of positive norm:

   - lemma_20: w/|w| - v/|v| = (w - v)/|w| - ((w - v)'(v + w)) v/(|v||w|(|v| + |w|)) in each entry;
   - lemma_20_corollary: |w/|w| - v/|v|| <= 2 |w - v|/(|v| + |w|);
   - lemma_20_corollary_is_sharp: there are v, w >= 0 for which both sides are equal and
     positive. *)

From Coq Require Import Reals List Lra.
Import ListNotations.
Open Scope R_scope.

Section Vectors.

Variable I : Type.
Variable index : list I.

Definition vector := I -> R.

Definition dot (u v : vector) : R := fold_right (fun i total => u i * v i + total) 0 index.

Definition norm (u : vector) : R := sqrt (dot u u).

Definition minus (u v : vector) : vector := fun i => u i - v i.
Definition plus (u v : vector) : vector := fun i => u i + v i.
Definition scale (c : R) (u : vector) : vector := fun i => c * u i.

Lemma dot_nonneg u : 0 <= dot u u.
Proof.
  unfold dot; induction index as [|i rest IH]; simpl; [lra|].
  assert (H := Rle_0_sqr (u i)); unfold Rsqr in H; lra.
Qed.

Lemma norm_square u : norm u * norm u = dot u u.
Proof. apply sqrt_sqrt, dot_nonneg. Qed.

Lemma norm_nonneg u : 0 <= norm u.
Proof. apply sqrt_pos. Qed.

(* |s u + t v|^2, from which all squares below are special cases. *)
Lemma dot_combination s t u v :
  dot (plus (scale s u) (scale t v)) (plus (scale s u) (scale t v))
  = s * s * dot u u + 2 * (s * t) * dot u v + t * t * dot v v.
Proof.
  unfold dot, plus, scale; induction index as [|i rest IH]; simpl; [|rewrite IH]; ring.
Qed.

Lemma dot_difference_sum v w : dot (minus w v) (plus v w) = dot w w - dot v v.
Proof. unfold dot, plus, minus; induction index as [|i rest IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma dot_ext u v u' v' : (forall i, u i = u' i) -> (forall i, v i = v' i) ->
  dot u v = dot u' v'.
Proof.
  intros Hu Hv; unfold dot; induction index as [|i rest IH]; simpl; [reflexivity|].
  now rewrite Hu, Hv, IH.
Qed.

Definition normalized (u : vector) : vector := fun i => u i / norm u.

Theorem lemma_20 v w : 0 < norm v -> 0 < norm w -> forall i,
  minus (normalized w) (normalized v) i
  = minus w v i / norm w
    - dot (minus w v) (plus v w) * v i / (norm v * norm w * (norm v + norm w)).
Proof.
  intros Hv Hw i.
  rewrite dot_difference_sum, <- !norm_square.
  unfold minus, normalized; field; lra.
Qed.

(* Cauchy and Schwarz, on the side that is needed. *)
Lemma dot_lower v w : - (norm v * norm w) * (norm v * norm w) <= dot v w * (norm v * norm w).
Proof.
  assert (H := dot_nonneg (plus (scale (norm w) v) (scale (norm v) w))).
  rewrite dot_combination, <- !norm_square in H; lra.
Qed.

Theorem lemma_20_corollary v w : 0 < norm v -> 0 < norm w ->
  norm (minus (normalized w) (normalized v)) <= 2 * norm (minus w v) / (norm v + norm w).
Proof.
  intros Hv Hw.
  assert (Hsum : 0 < norm v + norm w) by lra.
  assert (Hprod : 0 < norm v * norm w) by now apply Rmult_lt_0_compat.
  assert (low : - (norm v * norm w) <= dot v w).
  { apply (Rmult_le_reg_r (norm v * norm w)); [exact Hprod|apply dot_lower]. }
  assert (left_square :
    dot (minus (normalized w) (normalized v)) (minus (normalized w) (normalized v))
    = 2 - 2 * dot v w / (norm v * norm w)).
  { rewrite (dot_ext _ _ (plus (scale (/ norm w) w) (scale (- / norm v) v))
      (plus (scale (/ norm w) w) (scale (- / norm v) v)))
      by (intro; unfold minus, normalized, plus, scale; field; lra).
    rewrite dot_combination, <- !norm_square.
    replace (dot w v) with (dot v w)
      by (unfold dot; induction index as [|j rest IH]; simpl; [|rewrite IH]; ring).
    field; lra. }
  assert (right_square : dot (minus w v) (minus w v)
    = norm v * norm v + norm w * norm w - 2 * dot v w).
  { rewrite (dot_ext _ _ (plus (scale 1 w) (scale (-1) v)) (plus (scale 1 w) (scale (-1) v)))
      by (intro; unfold minus, plus, scale; ring).
    rewrite dot_combination, <- !norm_square.
    replace (dot w v) with (dot v w)
      by (unfold dot; induction index as [|j rest IH]; simpl; [|rewrite IH]; ring).
    ring. }
  apply (Rmult_le_reg_r (norm v + norm w)); [exact Hsum|].
  replace (2 * norm (minus w v) / (norm v + norm w) * (norm v + norm w))
    with (2 * norm (minus w v)) by (field; lra).
  apply Rsqr_incr_0_var; [|assert (H := norm_nonneg (minus w v)); lra].
  unfold Rsqr.
  replace (norm (minus (normalized w) (normalized v)) * (norm v + norm w)
      * (norm (minus (normalized w) (normalized v)) * (norm v + norm w)))
    with (norm (minus (normalized w) (normalized v)) * norm (minus (normalized w) (normalized v))
      * ((norm v + norm w) * (norm v + norm w))) by ring.
  replace (2 * norm (minus w v) * (2 * norm (minus w v)))
    with (4 * (norm (minus w v) * norm (minus w v))) by ring.
  rewrite !norm_square, left_square, right_square.
  (* The difference of the sides is (a - b)^2 (2 + 2 v'w/(a b)), a = |v|, b = |w|. *)
  apply Rminus_le.
  replace (_ - _) with
    (- ((norm v - norm w) * (norm v - norm w)
        * (2 * (norm v * norm w + dot v w) / (norm v * norm w))))
    by (field; lra).
  apply Ropp_le_cancel; rewrite Ropp_0, Ropp_involutive.
  apply Rmult_le_pos; [apply Rle_0_sqr|].
  apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat].
Qed.

End Vectors.

(* v = (1, 0), w = (0, 1): both sides are the root of 2, and no entry is negative, as none is in the
   solutions of alignf's program. *)
Theorem lemma_20_corollary_is_sharp : exists (v w : vector bool),
  (forall i, 0 <= v i /\ 0 <= w i) /\
  0 < norm bool [true; false] v /\ 0 < norm bool [true; false] w /\
  norm bool [true; false]
      (minus bool (normalized bool [true; false] w) (normalized bool [true; false] v))
    = 2 * norm bool [true; false] (minus bool w v)
      / (norm bool [true; false] v + norm bool [true; false] w) /\
  norm bool [true; false]
      (minus bool (normalized bool [true; false] w) (normalized bool [true; false] v)) = sqrt 2.
Proof.
  set (v := fun i : bool => if i then 1 else 0); set (w := fun i : bool => if i then 0 else 1).
  assert (one : norm bool [true; false] v = 1).
  { unfold norm, dot, v; simpl; replace (1 * 1 + (0 * 0 + 0)) with 1 by ring; apply sqrt_1. }
  assert (other : norm bool [true; false] w = 1).
  { unfold norm, dot, w; simpl; replace (0 * 0 + (1 * 1 + 0)) with 1 by ring; apply sqrt_1. }
  assert (apart : norm bool [true; false] (minus bool w v) = sqrt 2).
  { unfold norm, dot, minus, v, w; simpl; f_equal; ring. }
  assert (same : norm bool [true; false]
    (minus bool (normalized bool [true; false] w) (normalized bool [true; false] v)) = sqrt 2).
  { rewrite <- apart; unfold norm; f_equal.
    apply dot_ext; intro; unfold minus, normalized; rewrite one, other; field. }
  exists v, w; rewrite same, one, other, apart.
  repeat split; try lra; try (destruct i; unfold v, w; lra); field.
Qed.

(* scripts/lab/check_proofs reads what these rest on. *)
Definition checked := (lemma_20, lemma_20_corollary, lemma_20_corollary_is_sharp).
Print Assumptions checked.
