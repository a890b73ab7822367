(* The two-point inequality behind algorithm 1 as preconditioned ascent; not in the paper of Cortes,
   Mohri and Rostamizadeh (2009).

   What is proved, over the real numbers of Coq's standard library, for entries indexed by any finite
   list: with m_k = p_k^2, n_k = q_k^2 of Euclidean norm 1, X = r^2 m, Z = s^2 n and
   u_k >= (Z_k^(1/2) - X_k^(1/2))^2, as the triangle inequality for a seminorm gives,

   - two_points: 0 <= (n - m)'(Z - X) <= 2 (n + m)'u;
   - two_points_are_sharp: the factor 2 can not be lowered. *)

From Coq Require Import Reals List Lra.
Import ListNotations.
Open Scope R_scope.

Section Entries.

Variable I : Type.
Variable index : list I.

Definition sum (f : I -> R) : R := fold_right (fun i total => f i + total) 0 index.

Variables p q : I -> R.

Definition fourth (a : I -> R) : R := sum (fun i => a i * a i * (a i * a i)).
Definition squares : R := sum (fun i => p i * p i * (q i * q i)).
Definition mixed : R := sum (fun i => p i * q i * (p i * p i + q i * q i)).

Lemma sum_le f g : (forall i, f i <= g i) -> sum f <= sum g.
Proof.
  intro H; unfold sum; induction index as [|i rest IH]; simpl; [lra|].
  specialize (H i); lra.
Qed.

Lemma sum_nonneg f : (forall i, 0 <= f i) -> 0 <= sum f.
Proof.
  intro H; unfold sum; induction index as [|i rest IH]; simpl; [lra|].
  specialize (H i); lra.
Qed.

Lemma fourth_powers :
  sum (fun i => (p i - q i) * (p i - q i) * ((p i - q i) * (p i - q i)))
  = fourth p + fourth q + 6 * squares - 4 * mixed.
Proof.
  unfold fourth, squares, mixed, sum; induction index as [|i rest IH]; simpl; [ring|].
  rewrite IH; ring.
Qed.

Lemma distance_of_squares :
  sum (fun i => (p i * p i - q i * q i) * (p i * p i - q i * q i))
  = fourth p + fourth q - 2 * squares.
Proof.
  unfold fourth, squares, sum; induction index as [|i rest IH]; simpl; [ring|].
  rewrite IH; ring.
Qed.

Lemma middle r s :
  sum (fun i => (q i * q i - p i * p i) * (s * s * (q i * q i) - r * r * (p i * p i)))
  = s * s * fourth q + r * r * fourth p - (r * r + s * s) * squares.
Proof.
  unfold fourth, squares, sum; induction index as [|i rest IH]; simpl; [ring|].
  rewrite IH; ring.
Qed.

Lemma least_right r s :
  sum (fun i => (p i * p i + q i * q i) * ((s * q i - r * p i) * (s * q i - r * p i)))
  = r * r * (fourth p + squares) + s * s * (fourth q + squares) - 2 * (r * s) * mixed.
Proof.
  unfold fourth, squares, mixed, sum; induction index as [|i rest IH]; simpl; [ring|].
  rewrite IH; ring.
Qed.

Theorem two_points r s u : fourth p = 1 -> fourth q = 1 -> 0 <= r -> 0 <= s ->
  (forall i, (s * q i - r * p i) * (s * q i - r * p i) <= u i) ->
  0 <= sum (fun i => (q i * q i - p i * p i) * (s * s * (q i * q i) - r * r * (p i * p i)))
    <= 2 * sum (fun i => (p i * p i + q i * q i) * u i).
Proof.
  intros Hp Hq Hr Hs Hu.
  assert (far := sum_nonneg (fun i => (p i * p i - q i * q i) * (p i * p i - q i * q i))
    (fun i => Rle_0_sqr (p i * p i - q i * q i))).
  rewrite distance_of_squares, Hp, Hq in far.
  assert (near := sum_nonneg
    (fun i => (p i - q i) * (p i - q i) * ((p i - q i) * (p i - q i)))
    (fun i => Rle_0_sqr ((p i - q i) * (p i - q i)))).
  rewrite fourth_powers, Hp, Hq in near.
  assert (positive : 0 <= squares).
  { apply sum_nonneg; intro i; apply Rmult_le_pos; apply Rle_0_sqr. }
  assert (least : sum (fun i =>
      (p i * p i + q i * q i) * ((s * q i - r * p i) * (s * q i - r * p i)))
    <= sum (fun i => (p i * p i + q i * q i) * u i)).
  { apply sum_le; intro i; apply Rmult_le_compat_l; [|apply Hu].
    assert (a := Rle_0_sqr (p i)); assert (b := Rle_0_sqr (q i)); unfold Rsqr in *; lra. }
  rewrite least_right, Hp, Hq in least.
  rewrite middle, Hp, Hq.
  assert (sizes : 0 <= r * r + s * s).
  { assert (a := Rle_0_sqr r); assert (b := Rle_0_sqr s); unfold Rsqr in *; lra. }
  split.
  - replace (s * s * 1 + r * r * 1 - (r * r + s * s) * squares)
      with ((r * r + s * s) * (1 - squares)) by ring.
    apply Rmult_le_pos; lra.
  - apply Rle_trans with (2 := Rmult_le_compat_l 2 _ _ (Rlt_le _ _ Rlt_0_2) least).
    assert (one : 0 <= (r - s) * (r - s) * (1 + 3 * squares)).
    { apply Rmult_le_pos; [apply Rle_0_sqr|lra]. }
    assert (two : 0 <= r * s * (2 + 6 * squares - 4 * mixed)).
    { apply Rmult_le_pos; [now apply Rmult_le_pos|lra]. }
    lra.
Qed.

End Entries.

(* r = s = 1, p = (1 + x, 1 - x), q = (1 - x, 1 + x), u = (q - p)^2, of one size and x small. *)
Theorem two_points_are_sharp c : c < 2 -> exists p q : bool -> R,
  fourth bool [true; false] p = fourth bool [true; false] q /\
  c * sum bool [true; false]
      (fun i => (p i * p i + q i * q i) * ((q i - p i) * (q i - p i)))
  < sum bool [true; false] (fun i => (q i * q i - p i * p i) * (q i * q i - p i * p i)).
Proof.
  intro Hc.
  assert (H : exists x, 0 < x /\ c * (1 + x * x) < 2).
  { destruct (Rle_or_lt c 0) as [low|high].
    - exists 1; lra.
    - exists ((2 - c) / 4); split; [lra|].
      replace (c * (1 + (2 - c) / 4 * ((2 - c) / 4)))
        with (2 - (2 - c) * (1 - c * (2 - c) / 16)) by field.
      assert (small : c * (2 - c) < 16).
      { apply Rlt_trans with (2 * 2); [|lra]; apply Rmult_gt_0_lt_compat; lra. }
      assert (0 < (2 - c) * (1 - c * (2 - c) / 16)) by (apply Rmult_lt_0_compat; lra).
      lra. }
  destruct H as [x [Hx room]].
  exists (fun i : bool => if i then 1 + x else 1 - x), (fun i : bool => if i then 1 - x else 1 + x).
  unfold fourth, sum; simpl; split; [ring|].
  apply Rminus_lt.
  match goal with |- ?a < 0 => replace a with (- (16 * (x * x) * (2 - c * (1 + x * x)))) by ring end.
  apply Ropp_lt_gt_0_contravar.
  apply Rmult_lt_0_compat; [|lra].
  apply Rmult_lt_0_compat; [lra|now apply Rmult_lt_0_compat].
Qed.

(* scripts/lab/check_proofs reads what these rest on. *)
Definition checked := (two_points, two_points_are_sharp).
Print Assumptions checked.
