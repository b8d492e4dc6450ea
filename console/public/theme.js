// Runs before the first paint, so that a page in the dark does not flash. shell/theme.tsx writes what is read here.
try {
  const theme = localStorage.getItem('espalier:theme');
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Storage is closed to this page: the system's theme it is.
}
