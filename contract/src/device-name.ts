/** Converts a `User-Agent` header to a readable name, for example "Chrome on Linux". */

type Sign = readonly [pattern: RegExp, name: string];

/** Most browsers also name other browsers for compatibility. The first match is the right one. */
const browsers: readonly Sign[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|OPiOS|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/\bTrident\/|\bMSIE /, 'Internet Explorer'],
];

const systems: readonly Sign[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
  [/\b(?:Free|Open|Net)BSD\b/, 'BSD'],
];

const programs: Readonly<Record<string, string>> = {
  espalier: 'Espalier command line',
  node: 'Node.js',
  undici: 'Node.js',
  'Go-http-client': 'Go program',
  PostmanRuntime: 'Postman',
};

const maxLetters = 60;

export function deviceName(agent: string | null): string {
  const text = agent?.trim() ?? '';
  if (text === '') return 'Unknown device';
  const browser = nameIn(text, browsers);
  if (text.startsWith('Mozilla/') && browser !== undefined) {
    const system = nameIn(text, systems);
    return system === undefined ? browser : `${browser} on ${system}`;
  }
  const [, program, version] = /^([\w.-]+)(?:\/([\w.]+))?/.exec(text) ?? [];
  if (program === undefined || program === 'Mozilla') return cut(text);
  const displayName = Object.hasOwn(programs, program) ? programs[program]! : program;
  // Go's version number is that of HTTP.
  return cut(
    version === undefined || program === 'Go-http-client' ? displayName : `${displayName} ${version}`,
  );
}

function nameIn(text: string, signs: readonly Sign[]): string | undefined {
  return signs.find(([pattern]) => pattern.test(text))?.[1];
}

function cut(text: string): string {
  const letters = [...text];
  return letters.length <= maxLetters ? text : `${letters.slice(0, maxLetters - 1).join('')}…`;
}
