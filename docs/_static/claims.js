// The filter of the table of claims; no server and no library needed.
(function () {
  const rows = Array.from(document.querySelectorAll("#claims-table tbody tr"));
  const words = document.getElementById("claims-words");
  const paper = document.getElementById("claims-paper");
  const status = document.getElementById("claims-status");
  const count = document.getElementById("claims-count");
  // Before formulas are typeset, so that LaTeX can be searched too.
  const texts = rows.map((row) => row.textContent.toLowerCase());

  function filter() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      const fits =
        (!paper.value || row.dataset.paper === paper.value) &&
        (!status.value || row.dataset.status === status.value) &&
        wanted.every((word) => texts[i].includes(word));
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = shown + " of " + rows.length + " claims";
  }

  [words, paper, status].forEach((field) => field.addEventListener("input", filter));
  words.form.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
