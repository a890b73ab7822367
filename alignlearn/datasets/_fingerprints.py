"""Fingerprints of the registered sets: shape, class counts and canonical SHA-256 digests.

What is digested is described in ``_data.canonical_digest`` and ``_data.fingerprint``.
"""

from ._data import Fingerprint

FINGERPRINTS = {
    "ionosphere": Fingerprint(
        shape=(351, 34),
        classes=((-1, 126), (1, 225)),
        X="69468e18f3a97d2ed2709a0ad1fb4263f1dbd16f658b15500513ef06ccd7af71",
        y="475ea7977a8461b62d66fe621a05cf4baee68d13f04f2d58e4962e124e6e9df9",
        extra=(),
    ),
    "german_numeric": Fingerprint(
        shape=(1000, 24),
        classes=((-1, 300), (1, 700)),
        X="547f2245069362af008c626317c6dc8fdb087eb223401be8c1bc9e21a635143e",
        y="13331f3729a653c524e78c9e335fb70081def36345932defe31d315d9cca34fc",
        extra=(("y_original", "c5d865bca7579451cb14ebceda42fc8584d7209a92078206f5a67db77a369f31"),),
    ),
    "breast_cancer_wisconsin": Fingerprint(
        shape=(699, 9),
        classes=((-1, 458), (1, 241)),
        X="542b70f4d33d7d0efc174c16a8326ba8da0310df3f5877e18e584db4c02288df",
        y="a920e4277a65b65926f5b75de4a98823fee292090778cf50ee013f24c2783c37",
        extra=(
            ("complete", "6af993c48b96f9d7b6288af6d3b668b2758f8a74cf6ff975bdba4463c0c7e940"),
            ("sample_id", "718f16a68a94e978a8170f0dc85ddbb10498edd7e9064c87f9a0678a67911d46"),
            ("y_original", "a02438455c276847ba5286ed841577b686ed6af42661c299d1d28725c54c003f"),
        ),
    ),
    "sonar": Fingerprint(
        shape=(208, 60),
        classes=((-1, 97), (1, 111)),
        X="0d6ab10c8d741bdda9f7525380780a205260255ac763c9e103fe0da3e41deec8",
        y="87c8606ddf7deaec744fef6b7261927f7478ffc3e6a3292606c5fa9ba141c370",
        extra=(),
    ),
    "heart_statlog": Fingerprint(
        shape=(270, 13),
        classes=((-1, 150), (1, 120)),
        X="12a23522fcc45375dd39896bf0a1c9da67221c52f311f5779532c612818b6583",
        y="b6b6fc702bcbe91ba07cda96f1a9ee9e40732785d410efde4511bcb00f41b1c4",
        extra=(),
    ),
    "fertility": Fingerprint(
        shape=(100, 9),
        classes=((-1, 88), (1, 12)),
        X="41d14d552c84ace2b5149365401191cd74c1429b06687482016054e3c8a62bc6",
        y="5e21965213d0f2369bee3b23315ac0e700c480dae2591d9eb27134ce3e26d25c",
        extra=(),
    ),
    "australian": Fingerprint(
        shape=(690, 14),
        classes=((-1, 383), (1, 307)),
        X="db65dffbaa7493bdef5da85dddf3ed5a8b24fec0f6b571e01643aca9acbac704",
        y="7deafe2ff2168d6f3feaff9e09827b11b33850f86d48b20cf57c014e2e2295f5",
        extra=(),
    ),
    "kin8nm": Fingerprint(
        shape=(8192, 8),
        classes=(),
        X="40fe658abf608fb41492e445d8e89d3a5f5daeee62e29ebdac02f329f1cf6dff",
        y="a16dfbf651526e3e7a7543c7ba12c93e50ca2baecd284e62671fad99b9ea1fb4",
        extra=(),
    ),
    "ijcnn1_train": Fingerprint(
        shape=(49990, 22),
        classes=((-1, 45137), (1, 4853)),
        X="30eab6a8f2d4cff93758a24e7514b67815a7dd5eeb6130ecea80e92ef9b4b308",
        y="d1aa353f25f0d928fd5a144e117455a7f9df8bd391e90ff1317c3cbb791957c9",
        extra=(),
    ),
    "landmine": Fingerprint(
        shape=(14820, 9),
        classes=((-1, 13916), (1, 904)),
        X="1f4086ae06a03e43c88a0638b586d2c82f79512a841053a3c8e2e4fcf24467b0",
        y="d74ab8bd85e8a32f6f527e4feed24cadca9b347a2b231ec1a6252adf279cb104",
        extra=(("task", "7a8c67529713dce42c6a4b8bd2e035f57c74889ce536a0c8c54ce41c0549826f"),),
    ),
    "gefcom2012_weeks": Fingerprint(
        shape=(1512, 15),
        classes=(),
        X="623ed99161eabafe92dc4214387b123f6e35fdced79ebd496f2c28b047784a0e",
        y="71291c4d1d20554bc1f7ee122b889c3675b658a305c5df172543aeb8919f44c9",
        extra=(
            ("feature_names", "26b7a7a692f90a1cfb41bdfb69279e9c91911e4aa0326dfb699d06280d0644fb"),
        ),
    ),
    "sentiment_bigrams_books": Fingerprint(
        shape=(2000, 5000),
        classes=(),
        X="771ea233b496c23e8b3b9d0bf637c2c60ca78642d818abf27c6cbdbbf1009f15",
        y="345c3ce53c245db891101103de85ba4765afbf158ec3d5e2a377d7b94cf80ce6",
        extra=(
            ("feature_names", "64eeafc616940451568e073b481b4a40a399845cec82dbb36d737c633c1ebd1a"),
            ("sign", "79fd6c6631d0b11029e7bd40f239201857073bd35d3b35e05250a42fcc6666bb"),
        ),
    ),
    "sentiment_bigrams_kitchen": Fingerprint(
        shape=(2000, 5000),
        classes=(),
        X="6e59ebcfefff2c1e0c1ef0101be4a9811d9937d57faa9420458522dc90849afb",
        y="e4373a0468c13fe84ecccbdcf0362d98e564c94558a27be9ba5efd23993383cf",
        extra=(
            ("feature_names", "57bb6ebcaf6a8882cd42ad099b5b54f70a1e79509cd37fdfcfbc34d979a4ae9b"),
            ("sign", "79fd6c6631d0b11029e7bd40f239201857073bd35d3b35e05250a42fcc6666bb"),
        ),
    ),
}
