/** Matches, ranks and groups the items of the palette. */

import type { IconName } from '../ui/icons.tsx';

export interface PaletteItem {
  /** Unique and stable, because recent choices are stored by id. */
  readonly id: string;
  readonly group: string;
  readonly label: string;
  /** Second line, for example the path of a folder. */
  readonly detail?: string;
  readonly icon: IconName;
  readonly keys?: string;
  /** Further words that match. */
  readonly keywords?: string;
  readonly run: () => void;
}

/** Returns the rank of a match: 0 is best, undefined is no match. Every word of the text must match. */
export function rankMatch(
  { label, keywords = '' }: Pick<PaletteItem, 'label' | 'keywords'>,
  text: string,
): number | undefined {
  const wanted = normalize(text);
  if (wanted === '') return 0;
  const [name, extra] = [normalize(label), normalize(keywords)];
  if (name.startsWith(wanted)) return 0;
  const all = `${name} ${extra}`.split(/[^\p{L}\p{N}]+/u);
  let worst = 1;
  for (const word of wanted.split(/\s+/)) {
    if (all.some((one) => one.startsWith(word))) continue;
    if (!name.includes(word)) return undefined;
    worst = 2;
  }
  return worst;
}

/**
 * Returns whether a command matches without the quoted name in its label. If the text is the name of a folder, the folder is
 * listed before the commands that contain its name.
 */
export function matchesWithoutNames({ label, keywords }: PaletteItem, text: string): boolean {
  const verb = label.replaceAll(/“.*”/g, '');
  return rankMatch({ label: verb, ...(keywords !== undefined && { keywords }) }, text) !== undefined;
}

/** Returns the matching items, best first. Equal matches keep their order after recently chosen ones. */
export function findItems(
  items: readonly PaletteItem[],
  text: string,
  recent: readonly string[] = [],
): PaletteItem[] {
  const age = (id: string) => (recent.includes(id) ? recent.indexOf(id) : recent.length);
  return items
    .map((item) => ({ item, fits: rankMatch(item, text) }))
    .filter(({ fits }) => fits !== undefined)
    .sort((one, other) => one.fits! - other.fits! || age(one.item.id) - age(other.item.id))
    .map(({ item }) => item);
}

/**
 * Filters results of the server that may belong to an earlier text, because Enter must not open an item that does not match
 * the current text.
 */
export function dropStale<Item extends PaletteItem>(
  items: readonly Item[],
  text: string,
  isBehind: boolean,
): readonly Item[] {
  const matches = ({ label, detail = '' }: Item) =>
    rankMatch({ label, keywords: detail }, text) !== undefined;
  return isBehind ? items.filter(matches) : items;
}

export interface PaletteGroup {
  readonly name: string;
  readonly items: readonly PaletteItem[];
}

/** Groups items in the order of their first item, without duplicates. */
export function groupItems(items: readonly PaletteItem[]): PaletteGroup[] {
  const groups = new Map<string, PaletteItem[]>();
  const groupedIds = new Set<string>();
  for (const item of items) {
    if (groupedIds.has(item.id)) continue;
    groupedIds.add(item.id);
    groups.set(item.group, [...(groups.get(item.group) ?? []), item]);
  }
  return [...groups].map(([name, ofGroup]) => ({ name, items: ofGroup }));
}

function normalize(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}
