// Before anything is drawn: the colours that were chosen, or those of the device.
{
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const take = () => {
    const chosen = localStorage.getItem("diario.theme");
    const theme = chosen ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = theme;
    const color = theme === "dark" ? "#101417" : "#ffffff";
    document.querySelector("meta[name=theme-color]")?.setAttribute("content", color);
  };
  take();
  dark.addEventListener("change", take);
  addEventListener("diario-theme", take);
  // A browser that cannot read the pages' code says only that.
  addEventListener("error", () => {
    if (!document.getElementById("root")?.hasChildNodes()) {
      document.getElementById("too-old")?.removeAttribute("hidden");
    }
  });
}
