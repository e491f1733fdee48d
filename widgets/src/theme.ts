// Light or dark: an explicit choice, else what the host says, else what the system says.

type Theme = "light" | "dark";

export function hostTheme(): Theme {
  const lab = document.body.dataset["jpThemeLight"] ?? document.body.getAttribute("data-jp-theme-light");
  if (lab) return lab === "false" ? "dark" : "light";
  if (/\bvscode-(dark|high-contrast)\b/.test(document.body.className)) return "dark";
  if (/\bvscode-light\b/.test(document.body.className)) return "light";
  const colab = document.documentElement.getAttribute("theme");
  if (colab) return colab === "dark" ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Keep an element's `data-theme` right; returns how to change the choice and how to stop. */
export function followTheme(root: HTMLElement, choice: string): { choose(choice: string): void; stop(): void } {
  let chosen = choice;
  const update = () => {
    root.dataset["theme"] = chosen === "light" || chosen === "dark" ? chosen : hostTheme();
  };
  const observer = new MutationObserver(update);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["theme"] });
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", update);
  update();
  return {
    choose(next) {
      chosen = next;
      update();
    },
    stop() {
      observer.disconnect();
      media.removeEventListener("change", update);
    },
  };
}
