(* The price of learned weights: the oracle inequality for alignf, its deterministic part.

   What is proved, over the real numbers of Coq's standard library, for matrices M, N, vectors a, b
   and D indexed by any finite list, of which M is symmetric and positive semi-definite and D has no
   negative entry. q(u) = u'Mu - 2 u'a, and h = (M v - a) - (N v - b):

   - minimum_is_stationary: a minimum v of u'Nu - 2 u'b over u >= 0 has (u - v)'(N v - b) >= 0 for
     every u >= 0, for a symmetric N;
   - oracle_inequality: if v has that property, then q(v) - q(w) <= h'z + eps |v - w|_D^2 for every
     w >= 0, eps >= 0, and z with (M + eps D) z = h; z is (M + eps D)^-1 h where that exists;
   - alignment_gap: if w minimizes q over u >= 0, then V^2 (rho(w)^2 - rho(v)_+^2) <= q(v) - q(w)
     where both combinations have a positive norm; V^2 rho(u)^2 = (u'a)^2/(u'Mu).

   N need not be positive semi-definite in the second, as unbiased statistics are not. *)

From Coq Require Import Reals List Lra.
Import ListNotations.
Open Scope R_scope.

Section Price.

Variable I : Type.
Variable index : list I.

Definition sum (f : I -> R) : R := fold_right (fun i total => f i + total) 0 index.

Definition dot (u v : I -> R) : R := sum (fun i => u i * v i).

Definition times (A : I -> I -> R) (u : I -> R) (i : I) : R := sum (fun j => A i j * u j).

(* u'A w *)
Definition form (A : I -> I -> R) (u w : I -> R) : R := dot u (times A w).

Definition objective (A : I -> I -> R) (c u : I -> R) : R := form A u u - 2 * dot u c.

Definition nonnegative (u : I -> R) : Prop := forall i, 0 <= u i.

Definition is_minimum (A : I -> I -> R) (c v : I -> R) : Prop :=
  nonnegative v /\ forall u, nonnegative u -> objective A c v <= objective A c u.

Definition symmetric (A : I -> I -> R) : Prop := forall i j, A i j = A j i.

Definition plus (u w : I -> R) (i : I) : R := u i + w i.
Definition scale (t : R) (u : I -> R) (i : I) : R := t * u i.
Definition minus (u w : I -> R) (i : I) : R := u i - w i.

(* (N v - b) *)
Definition slope (A : I -> I -> R) (c v : I -> R) (i : I) : R := times A v i - c i.

Definition is_stationary (A : I -> I -> R) (c v : I -> R) : Prop :=
  nonnegative v /\ forall u, nonnegative u -> 0 <= dot (minus u v) (slope A c v).

Lemma sum_ext f g : (forall i, f i = g i) -> sum f = sum g.
Proof.
  intros H; unfold sum; induction index as [|i rest IH]; simpl; [reflexivity|].
  now rewrite H, IH.
Qed.

Lemma sum_scale t f : sum (fun i => t * f i) = t * sum f.
Proof. unfold sum; induction index as [|i rest IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_plus f g : sum (fun i => f i + g i) = sum f + sum g.
Proof. unfold sum; induction index as [|i rest IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_zero : sum (fun _ => 0) = 0.
Proof. unfold sum; induction index as [|i rest IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma sum_nonneg f : (forall i, 0 <= f i) -> 0 <= sum f.
Proof.
  intros H; unfold sum; induction index as [|i rest IH]; simpl; [lra|].
  assert (Hi := H i); lra.
Qed.

(* Two sums may change places. *)
Lemma exchange (l k : list I) (f : I -> I -> R) :
  fold_right (fun i total => fold_right (fun j t => f i j + t) 0 k + total) 0 l
  = fold_right (fun j total => fold_right (fun i t => f i j + t) 0 l + total) 0 k.
Proof.
  induction l as [|i rest IH]; simpl.
  - induction k as [|j more IHk]; simpl; [reflexivity|]. rewrite <- IHk; ring.
  - rewrite IH; clear IH; induction k as [|j more IHk]; simpl; [ring|].
    rewrite <- IHk; ring.
Qed.

Lemma dot_ext u v u' v' : (forall i, u i = u' i) -> (forall i, v i = v' i) ->
  dot u v = dot u' v'.
Proof. intros H K; apply sum_ext; intro; now rewrite H, K. Qed.

Lemma dot_plus u w c : dot (plus u w) c = dot u c + dot w c.
Proof.
  unfold dot; rewrite <- sum_plus; apply sum_ext; intro; unfold plus; ring.
Qed.

Lemma dot_scale t u c : dot (scale t u) c = t * dot u c.
Proof. unfold dot; rewrite <- sum_scale; apply sum_ext; intro; unfold scale; ring. Qed.

Lemma dot_sym u c : dot u c = dot c u.
Proof. apply sum_ext; intro; ring. Qed.

Lemma times_plus A u w i : times A (plus u w) i = times A u i + times A w i.
Proof.
  unfold times; rewrite <- sum_plus; apply sum_ext; intro; unfold plus; ring.
Qed.

Lemma times_scale A t u i : times A (scale t u) i = t * times A u i.
Proof. unfold times; rewrite <- sum_scale; apply sum_ext; intro; unfold scale; ring. Qed.

Lemma form_sym A u w : symmetric A -> form A u w = form A w u.
Proof.
  intros sym; unfold form, dot, times.
  transitivity (sum (fun i => sum (fun j => u i * (A i j * w j)))).
  { apply sum_ext; intro; now rewrite sum_scale. }
  transitivity (sum (fun i => sum (fun j => w i * (A i j * u j)))).
  { unfold sum; rewrite exchange; fold sum.
    apply (sum_ext (fun j => sum (fun i => u i * (A i j * w j)))).
    intro j; apply sum_ext; intro i; rewrite (sym j i); ring. }
  apply sum_ext; intro; now rewrite sum_scale.
Qed.

Lemma form_plus_left A u w x : form A (plus u w) x = form A u x + form A w x.
Proof. apply dot_plus. Qed.

Lemma form_plus_right A u w x : form A x (plus u w) = form A x u + form A x w.
Proof.
  unfold form; rewrite (dot_sym x (times A u)), (dot_sym x (times A w)), <- dot_plus.
  rewrite dot_sym; apply dot_ext; intro; [apply times_plus|reflexivity].
Qed.

Lemma form_scale_left A t u x : form A (scale t u) x = t * form A u x.
Proof. apply dot_scale. Qed.

Lemma form_scale_right A t u x : form A x (scale t u) = t * form A x u.
Proof.
  unfold form; rewrite (dot_sym x (times A u)), <- dot_scale.
  rewrite dot_sym; apply dot_ext; intro; [apply times_scale|reflexivity].
Qed.

Lemma form_ext A u w u' w' : (forall i, u i = u' i) -> (forall i, w i = w' i) ->
  form A u w = form A u' w'.
Proof.
  intros H K; apply dot_ext; [exact H|]; intro.
  apply sum_ext; intro; now rewrite K.
Qed.

(* q along a line. *)
Lemma objective_along A c v d t : symmetric A ->
  objective A c (plus v (scale t d))
  = objective A c v + 2 * t * dot d (slope A c v) + t * t * form A d d.
Proof.
  intros sym; unfold objective.
  rewrite form_plus_left, !form_plus_right, !form_scale_left, !form_scale_right.
  rewrite dot_plus, dot_scale, (form_sym A v d sym).
  replace (dot d (slope A c v)) with (form A d v - dot d c); [ring|].
  unfold form; rewrite (dot_sym d c), (dot_sym d (times A v)), (dot_sym d (slope A c v)).
  unfold dot, slope, Rminus.
  replace (- sum (fun i => c i * d i)) with ((-1) * sum (fun i => c i * d i)) by ring.
  rewrite <- sum_scale, <- sum_plus; apply sum_ext; intro; ring.
Qed.

Theorem minimum_is_stationary A c v : symmetric A -> is_minimum A c v -> is_stationary A c v.
Proof.
  intros sym [Hv best]; split; [exact Hv|]; intros u Hu.
  set (d := minus u v); set (s := dot d (slope A c v)); set (f := form A d d).
  assert (along : forall t, 0 <= t -> t <= 1 -> 0 <= 2 * t * s + t * t * f).
  { intros t Ht Ht1.
    assert (H := best (plus v (scale t d))).
    rewrite objective_along in H by exact sym; fold s f in H.
    assert (feasible : nonnegative (plus v (scale t d))).
    { intro i; unfold plus, scale, d, minus.
      replace (v i + t * (u i - v i)) with ((1 - t) * v i + t * u i) by ring.
      apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; [apply Hv|apply Hu]. }
    specialize (H feasible); lra. }
  destruct (Rle_or_lt 0 s) as [done|bad]; [exact done|exfalso].
  destruct (Rle_or_lt f (- s)) as [small|large].
  - assert (H := along 1 Rle_0_1 (Rle_refl 1)); lra.
  - set (t := - s / f).
    assert (Hf : 0 < f) by lra.
    assert (Hinv : 0 < / f) by now apply Rinv_0_lt_compat.
    assert (Ht : 0 < t) by (unfold t, Rdiv; apply Rmult_lt_0_compat; lra).
    assert (Ht1 : t <= 1).
    { unfold t; apply (Rmult_le_reg_r f); [exact Hf|].
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
    assert (H := along t (Rlt_le _ _ Ht) Ht1).
    assert (E : 2 * t * s + t * t * f = t * s).
    { assert (tf : t * f = - s) by (unfold t; field; lra).
      replace (t * t * f) with (t * (t * f)) by ring; rewrite tf; ring. }
    rewrite E in H.
    assert (neg : 0 < t * - s) by (apply Rmult_lt_0_compat; lra).
    lra.
Qed.

Variables M N : I -> I -> R.
Variables a b D : I -> R.

Definition semidefinite (A : I -> I -> R) : Prop := forall u, 0 <= form A u u.

(* |d|_D^2, and u'(M + eps D) u without eps. *)
Definition weighted (u w : I -> R) : R := sum (fun i => D i * (u i * w i)).

Definition error (v : I -> R) (i : I) : R := slope M a v i - slope N b v i.

Lemma weighted_nonneg u : nonnegative D -> 0 <= weighted u u.
Proof.
  intros HD; apply sum_nonneg; intro i; apply Rmult_le_pos; [apply HD|apply Rle_0_sqr].
Qed.

Theorem oracle_inequality v w z eps : symmetric M -> semidefinite M -> nonnegative D ->
  is_stationary N b v -> nonnegative w -> 0 <= eps ->
  (forall i, times M z i + eps * (D i * z i) = error v i) ->
  objective M a v - objective M a w
  <= dot (error v) z + eps * weighted (minus v w) (minus v w).
Proof.
  intros M_symmetric M_semidefinite D_nonnegative [_ stationary] Hw Heps solved.
  set (d := minus v w).
  assert (G : objective M a w
    = objective M a v - 2 * dot d (slope M a v) + form M d d).
  { assert (H := objective_along M a v d (-1) M_symmetric).
    replace (objective M a (plus v (scale (-1) d))) with (objective M a w) in H; [lra|].
    unfold objective; f_equal; [|f_equal]; [apply form_ext|apply dot_ext]; intro;
      unfold plus, scale, d, minus; try reflexivity; ring. }
  assert (split_slope : dot d (slope M a v) = dot d (error v) + dot d (slope N b v)).
  { unfold dot; rewrite <- sum_plus; apply sum_ext; intro; unfold error; ring. }
  assert (first_order : dot d (slope N b v) <= 0).
  { assert (H := stationary w Hw).
    assert (E : dot (minus w v) (slope N b v) = - dot d (slope N b v)).
    { transitivity (-1 * dot d (slope N b v)); [|ring].
      rewrite <- dot_scale; apply dot_ext; intro; unfold scale, d, minus; [ring|reflexivity]. }
    lra. }
  (* 0 <= |d - z|^2 in the metric M + eps D *)
  assert (solved_dot : forall u,
    dot u (error v) = form M u z + eps * weighted u z).
  { intro u; unfold form, dot, weighted; rewrite <- sum_scale, <- sum_plus.
    apply sum_ext; intro i; rewrite <- solved; ring. }
  assert (square : 0 <= form M (plus d (scale (-1) z)) (plus d (scale (-1) z))
    + eps * weighted (plus d (scale (-1) z)) (plus d (scale (-1) z))).
  { apply Rplus_le_le_0_compat; [apply M_semidefinite|].
    apply Rmult_le_pos; [exact Heps|now apply weighted_nonneg]. }
  assert (expanded : weighted (plus d (scale (-1) z)) (plus d (scale (-1) z))
    = weighted d d - 2 * weighted d z + weighted z z).
  { unfold weighted, Rminus.
    replace (- (2 * sum (fun i => D i * (d i * z i))))
      with ((-2) * sum (fun i => D i * (d i * z i))) by ring.
    rewrite <- sum_scale, <- !sum_plus; apply sum_ext; intro; unfold plus, scale; ring. }
  rewrite expanded in square.
  rewrite form_plus_left, !form_plus_right, !form_scale_left, !form_scale_right in square.
  rewrite (form_sym M z d M_symmetric) in square.
  assert (Hd := solved_dot d); assert (Hz := solved_dot z).
  rewrite (dot_sym (error v) z).
  lra.
Qed.

Lemma minimum_meets_labels w : symmetric M -> is_minimum M a w -> 0 < form M w w ->
  form M w w = dot w a.
Proof.
  intros M_symmetric Hmin pos.
  assert (stationary := proj2 (minimum_is_stationary M a w M_symmetric Hmin)).
  assert (Hw := proj1 Hmin).
  assert (E : dot w (slope M a w) = form M w w - dot w a).
  { unfold form; rewrite (dot_sym w a), (dot_sym w (times M w)), (dot_sym w (slope M a w)).
    unfold dot, slope, Rminus.
    replace (- sum (fun i => a i * w i)) with ((-1) * sum (fun i => a i * w i)) by ring.
    rewrite <- sum_scale, <- sum_plus; apply sum_ext; intro; ring. }
  assert (double : 0 <= dot w (slope M a w)).
  { replace (dot w (slope M a w)) with (dot (minus (scale 2 w) w) (slope M a w)).
    - apply stationary; intro i; unfold scale; apply Rmult_le_pos; [lra|apply Hw].
    - apply dot_ext; intro; unfold minus, scale; [ring|reflexivity]. }
  assert (none : 0 <= - dot w (slope M a w)).
  { replace (- dot w (slope M a w)) with (dot (minus (scale 0 w) w) (slope M a w)).
    - apply stationary; intro i; unfold scale; lra.
    - transitivity (-1 * dot w (slope M a w)); [|ring].
      rewrite <- dot_scale; apply dot_ext; intro; unfold minus, scale; [ring|reflexivity]. }
  lra.
Qed.

(* V^2 rho(u)_+^2 *)
Definition squared_alignment (u : I -> R) : R :=
  Rmax 0 (dot u a) * Rmax 0 (dot u a) / form M u u.

Theorem alignment_gap v w : symmetric M -> is_minimum M a w -> 0 < form M w w -> 0 < form M v v ->
  squared_alignment w - squared_alignment v <= objective M a v - objective M a w.
Proof.
  intros M_symmetric Hmin pos Hv.
  assert (labels := minimum_meets_labels w M_symmetric Hmin pos).
  assert (Hw : squared_alignment w = form M w w).
  { unfold squared_alignment; rewrite <- labels, Rmax_right by lra; field; lra. }
  assert (lower : - objective M a v <= squared_alignment v).
  { unfold objective, squared_alignment.
    apply (Rmult_le_reg_r (form M v v)); [exact Hv|].
    unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    set (x := dot v a); set (f := form M v v) in *.
    destruct (Rle_or_lt 0 x) as [up|down].
    - rewrite Rmax_right by exact up.
      assert (H := Rle_0_sqr (x - f)); unfold Rsqr in H; lra.
    - rewrite Rmax_left by lra.
      assert (H : 0 < f * (f - 2 * x)) by (apply Rmult_lt_0_compat; lra); lra. }
  unfold objective at 2; rewrite <- labels, Hw; lra.
Qed.

End Price.

(* scripts/lab/check_proofs reads what these rest on. *)
Definition checked := (minimum_is_stationary, oracle_inequality, alignment_gap).
Print Assumptions checked.
