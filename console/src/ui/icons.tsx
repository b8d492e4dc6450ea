/** The icons of the console, drawn on a grid of 20. They are hidden from screen readers, because a text is next to each. */

const paths = {
  alert: 'M10 6v5M10 14v.1M10 2a8 8 0 1 0 0 16 8 8 0 0 0 0-16Z',
  back: 'M12 4l-6 6 6 6',
  book: 'M4 4h5a1 1 0 0 1 1 1v11a2 2 0 0 0-2-1H4ZM16 4h-5a1 1 0 0 0-1 1v11a2 2 0 0 1 2-1h4Z',
  calendar: 'M3 5h14v12H3ZM3 9h14M7 3v4M13 3v4',
  check: 'M4 10.5l4 4 8-9',
  chevron: 'M7 4l6 6-6 6',
  clock: 'M10 2a8 8 0 1 0 0 16 8 8 0 0 0 0-16ZM10 5.5V10l3 2',
  close: 'M5 5l10 10M15 5L5 15',
  copy: 'M7 7h9v9H7ZM13 4H4v9',
  device: 'M3 4h14v9H3ZM7 16h6',
  down: 'M4 7l6 6 6-6',
  download: 'M10 3v9M6 9l4 4 4-4M4 16h12',
  edit: 'M4 16l.8-3.4L13 4.4l2.6 2.6-8.2 8.2Z',
  eye: 'M2 10c2-3.5 4.8-5.2 8-5.2s6 1.7 8 5.2c-2 3.5-4.8 5.2-8 5.2S4 13.5 2 10ZM10 7.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z',
  folder: 'M2.5 5.5a1 1 0 0 1 1-1h4l2 2h7a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1Z',
  gauge: 'M3 14a7.5 7.5 0 1 1 14 0M10 13l3.5-5',
  group:
    'M7 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM1.5 16.5c0-3 2.5-4.5 5.5-4.5s5.5 1.5 5.5 4.5M13 10a2.6 2.6 0 1 0-1-5M14.5 12.2c2.3.3 4 1.7 4 4.3',
  key: 'M13 4a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM10.5 10L4 16.5M6 14.5l2 2',
  list: 'M7 5h10M7 10h10M7 15h10M3 5h.1M3 10h.1M3 15h.1',
  minus: 'M5 10h10',
  monitor: 'M3 4h14v9H3ZM7 16.5h6M10 13v3.5',
  moon: 'M16.5 11.5A7 7 0 0 1 8.5 3.5 7 7 0 1 0 16.5 11.5Z',
  more: 'M4.5 10h.1M10 10h.1M15.5 10h.1',
  move: 'M3 10h12M11 6l4 4-4 4',
  play: 'M6 4l10 6-10 6Z',
  plus: 'M10 4v12M4 10h12',
  refresh: 'M16 10a6 6 0 1 1-2-4.5M16 3v4h-4',
  search: 'M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM13 13l4 4',
  settings: 'M3 6h7M14 6h3M3 14h3M10 14h7M12 4v4M8 12v4',
  shield: 'M10 2.5l6.5 2.5v4.5c0 4-2.7 6.7-6.5 8-3.8-1.3-6.5-4-6.5-8V5Z',
  signOut: 'M8 4H4v12h4M9 10h8M14 7l3 3-3 3',
  star: 'M10 2.8l2.2 4.6 5 .7-3.6 3.5.9 5L10 14.2l-4.5 2.4.9-5L2.8 8.1l5-.7Z',
  sun: 'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  trash: 'M4 6h12M8 6V4h4v2M5.5 6l.8 10.5h7.4L14.5 6',
  undo: 'M7 5L3.5 8.5 7 12M4 8.5h8a4 4 0 0 1 0 8H8',
  upload: 'M10 12V3M6 7l4-4 4 4M4 16h12',
  user: 'M10 10.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM3.5 17.5c0-3.5 3-5 6.5-5s6.5 1.5 6.5 5',
  warning: 'M10 3l7.5 13.5h-15ZM10 8v4M10 14v.1',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg className={`icon ${className}`} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

/** The logo: a tree trained against a wall. */
export function Logo() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M16 27V6M16 21c-4 0-8-1-8-6M16 21c4 0 8-1 8-6M16 14c-3 0-5-1-5-5M16 14c3 0 5-1 5-5" />
    </svg>
  );
}

/** Clients may store anything as an icon, for example names or URLs. Only short symbols are displayed. */
function isSymbol(icon: string): boolean {
  return [...icon].length <= 4 && !/[\w/:.]/.test(icon);
}

/** The icon of a folder: its own emoji or symbol, or the default. */
export function FolderIcon({ icon }: { icon: string | null }) {
  return icon !== null && isSymbol(icon) ? (
    <span className="folder-sign" aria-hidden="true">
      {icon}
    </span>
  ) : (
    <Icon name="folder" />
  );
}
