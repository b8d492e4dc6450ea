/**
 * An estate of any size, the same at every start: regions, towns, houses, floors and rooms, up to eight levels deep.
 * What is asked for has the same shape in a small and in a large one; all around it, and inside what is moved, the
 * large one is larger.
 */

export interface PlantedFolder {
  name: string;
  title?: string;
  folders: PlantedFolder[];
}

export interface EstateShape {
  /** Each is one import below the folder of the estate. */
  readonly batches: readonly PlantedFolder[][];
  /** The names on the way to folders eight levels below the root, from all over the regions. */
  readonly deepWays: readonly string[][];
}

export const estateName = 'Estate';
/** Has many sub-folders: a hundredth of all. */
export const lettersName = 'Letters';
/** Has sub-folders of the same number and depth in every estate. */
export const houseName = 'House';
/** Between these two the subtree is moved, a tenth of all. */
export const placeNames = ['North', 'South'] as const;
export const subtreeName = 'Warehouse';

export const plantedTimes = 60;
/** In as many folders of every estate: none of its letter groups is anywhere else, */
export const rareWord = 'Quillwort';
/** or each of them is in many names, just not all of them together. */
export const composedWord = 'Stationer';

const deepest = 8;
const mostInBatch = 100_000;
const mostDeepWays = 40;
const words = [
  ['Region', 'Coast', 'Valley', 'Border'],
  ['Town', 'Harbour', 'Zürich', 'Market', 'Old Mill'],
  ['Street', 'Square', 'Station', 'Ångström Way', 'Corner'],
  ['House', 'Hall', 'Annex', 'Workshop', 'Stone Tower', 'Depot'],
  ['Floor', 'Basement', 'Mezzanine', 'Wing'],
  ['Room', 'Office', 'Laboratory', 'Archive', 'Kitchen', 'Partner Room'],
  ['Cabinet', 'Shelf', 'Desk', 'Rack', 'Case', 'Inspection'],
] as const;

export function shapeEstate(size: number): EstateShape {
  const letters = leaf(lettersName);
  letters.folders = Array.from({ length: Math.max(100, Math.round(size / 100)) }, (_, place) => ({
    ...leaf(`Letter ${place + 1}`),
    title: `To the tenants, no. ${place + 1}`,
  }));
  const house = leaf(houseName);
  fill(house, 80, 5);
  const subtree = leaf(subtreeName);
  fill(subtree, Math.round(size / 10) - 1, 4);
  const first = [letters, house, ...placeNames.map(leaf), subtree];
  const boroughs = shapeBoroughs();
  const planned = [...first, ...boroughs].reduce((sum, each) => sum + countOf(each), 1);
  const regions = shapeRegions(size - planned);
  return {
    batches: inBatches([...first, ...amid(regions, boroughs)]),
    deepWays: spread(waysTo(regions, deepest), mostDeepWays),
  };
}

function leaf(name: string): PlantedFolder {
  return { name, folders: [] };
}

/** As many as needed for each to fit into one import with room to spare. */
function shapeRegions(total: number): PlantedFolder[] {
  const count = Math.max(4, Math.ceil(total / (mostInBatch / 2)));
  return shares(total, count, 1).map((share, place) => {
    const region = leaf(nameAt(place, 2));
    fill(region, share - 1, 3);
    return region;
  });
}

/** Gives a folder `count` descendants, of which the first are as deep as can be. */
function fill(folder: PlantedFolder, count: number, level: number): void {
  if (count <= 0) return;
  const levelsLeft = deepest - level + 1;
  const even = count ** (1 / levelsLeft);
  // Mixed: some folders hold few, some many.
  const width = level === deepest ? count : Math.ceil(even * [1, 0.5, 2, 1, 1.5][folder.name.length % 5]!);
  folder.folders = shares(count, Math.min(count, width)).map((share, place) => {
    const child = leaf(nameAt(place, level));
    if (place % 3 === 1) child.title = `${child.name} of ${folder.name}`;
    fill(child, share - 1, level + 1);
    return child;
  });
}

/** Divides a number into so many parts; the earlier are the greater, unless told otherwise. */
function shares(total: number, count: number, favour = 1.6): number[] {
  const parts: number[] = [];
  for (let left = total, rest = count; rest > 0; rest--) {
    const part = Math.min(left - (rest - 1), Math.ceil((left / rest) * (rest > 1 ? favour : 1)));
    parts.push(part);
    left -= part;
  }
  return parts;
}

function nameAt(place: number, level: number): string {
  const choice = words[level - 2]!;
  return `${choice[place % choice.length]!} ${place + 1}`;
}

/** In their leaves stand the words that are searched for: in every estate as many folders lead to as many of them. */
function shapeBoroughs(): PlantedFolder[] {
  const boroughs = Array.from({ length: 4 }, (_, place) => {
    const borough = leaf(`Borough ${place + 1}`);
    fill(borough, 55, 4);
    return borough;
  });
  const leaves = [...everyFolder(boroughs)].filter(({ folders }) => folders.length === 0);
  spread(leaves, 2 * plantedTimes).forEach((folder, place) => {
    folder.name = `${[rareWord, composedWord][place % 2]!} ${place + 1}`;
    delete folder.title;
  });
  return boroughs;
}

function amid(regions: readonly PlantedFolder[], others: readonly PlantedFolder[]): PlantedFolder[] {
  const step = Math.floor(regions.length / others.length);
  return regions.flatMap((region, place) => [
    region,
    ...(place % step === 0 ? others.slice(place / step, place / step + 1) : []),
  ]);
}

function* everyFolder(folders: readonly PlantedFolder[]): Generator<PlantedFolder> {
  for (const folder of folders) {
    yield folder;
    yield* everyFolder(folder.folders);
  }
}

function waysTo(folders: readonly PlantedFolder[], depth: number): string[][] {
  const found: string[][] = [];
  const walk = (inside: readonly PlantedFolder[], way: readonly string[]) => {
    for (const { name, folders: below } of inside) {
      if (way.length + 1 === depth) found.push([...way, name]);
      else walk(below, [...way, name]);
    }
  };
  walk(folders, [estateName]);
  return found;
}

function spread<T>(all: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, place) => all[Math.floor((place * all.length) / count)]!);
}

export function countOf(folder: PlantedFolder): number {
  return folder.folders.reduce((sum, each) => sum + countOf(each), 1);
}

function inBatches(folders: readonly PlantedFolder[]): PlantedFolder[][] {
  const batches: PlantedFolder[][] = [];
  let room = 0;
  for (const folder of folders) {
    const count = countOf(folder);
    if (count > room) {
      batches.push([]);
      room = mostInBatch;
    }
    batches.at(-1)!.push(folder);
    room -= count;
  }
  return batches;
}
