// Light or dark: as the machine has it, or as it was chosen here.

const THEMES = ["auto", "light", "dark"];
const KEY = "assay-theme";

function kept() {
  try {
    return localStorage.getItem(KEY) ?? "auto";
  } catch {
    return "auto"; // a browser may keep nothing
  }
}

function apply(theme, button) {
  document.documentElement.dataset.theme = theme;
  button.textContent = `Theme: ${theme}`;
}

/** Let a button turn from one theme to the next; return the function that does so. */
export function themed(button) {
  let theme = THEMES.includes(kept()) ? kept() : "auto";
  apply(theme, button);
  const turn = () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    apply(theme, button);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // it holds for this visit
    }
  };
  button.addEventListener("click", turn);
  return turn;
}
