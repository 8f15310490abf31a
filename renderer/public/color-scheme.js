// Sets the colour scheme before the first paint, so that a window that is kept dark does not open with a white flash.
// Mantine does the same once it runs; key and values are its own.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value');
  } catch {
    // Storage may be switched off; then the system decides.
  }
  const systemIsDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const scheme = chosen === 'light' || chosen === 'dark' ? chosen : systemIsDark ? 'dark' : 'light';
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme);
})();
