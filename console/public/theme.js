// Runs before the first paint, so that a page in the dark theme does not flash. shell/theme.tsx writes the stored theme.
try {
  const theme = localStorage.getItem('espalier:theme');
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // The browser blocks the storage, so the page has the theme of the system.
}
