/** What the palette offers, as data: which of it a text finds, and in which order. */

import type { IconName } from '../ui/icons.tsx';

export interface PaletteItem {
  /** Unique, and the same from one time to the next. */
  readonly id: string;
  readonly group: string;
  readonly label: string;
  /** A second line: the path of a folder. */
  readonly detail?: string;
  readonly icon: IconName;
  readonly keys?: string;
  /** Other words that find it. */
  readonly keywords?: string;
  readonly run: () => void;
}

/** How well the text fits: 0 is best; undefined if it does not. Each of its words must be found. */
export function fit(
  { label, keywords = '' }: Pick<PaletteItem, 'label' | 'keywords'>,
  text: string,
): number | undefined {
  const asked = folded(text);
  if (asked === '') return 0;
  const [name, others] = [folded(label), folded(keywords)];
  if (name.startsWith(asked)) return 0;
  const all = `${name} ${others}`.split(/[^\p{L}\p{N}]+/u);
  let worst = 1;
  for (const word of asked.split(/\s+/)) {
    if (all.some((one) => one.startsWith(word))) continue;
    if (!name.includes(word)) return undefined;
    worst = 2;
  }
  return worst;
}

/** Those that the text finds, the best first; among equals what was chosen lately, then as they came. */
export function found(
  items: readonly PaletteItem[],
  text: string,
  recent: readonly string[] = [],
): PaletteItem[] {
  const age = (id: string) => (recent.includes(id) ? recent.indexOf(id) : recent.length);
  return items
    .map((item) => ({ item, fits: fit(item, text) }))
    .filter(({ fits }) => fits !== undefined)
    .sort((one, other) => one.fits! - other.fits! || age(one.item.id) - age(other.item.id))
    .map(({ item }) => item);
}

/**
 * What the server has found, of which some may be for an earlier text: of that, what this text finds too. Whoever presses
 * Enter at once must not open something else.
 */
export function upToDate<Item extends PaletteItem>(
  items: readonly Item[],
  text: string,
  isBehind: boolean,
): readonly Item[] {
  const foundBy = ({ label, detail = '' }: Item) => fit({ label, keywords: detail }, text) !== undefined;
  return isBehind ? items.filter(foundBy) : items;
}

export interface PaletteGroup {
  readonly name: string;
  readonly items: readonly PaletteItem[];
}

/** In groups, each where its first item is. An item that is there twice is shown once. */
export function grouped(items: readonly PaletteItem[]): PaletteGroup[] {
  const groups = new Map<string, PaletteItem[]>();
  const shown = new Set<string>();
  for (const item of items) {
    if (shown.has(item.id)) continue;
    shown.add(item.id);
    groups.set(item.group, [...(groups.get(item.group) ?? []), item]);
  }
  return [...groups].map(([name, ofGroup]) => ({ name, items: ofGroup }));
}

function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}
