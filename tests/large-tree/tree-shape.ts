/**
 * Defines an estate: a tree of regions, towns, houses, floors and rooms with any number of folders, up to eight levels
 * deep. The same number always gives the same tree. The folders that scenarios read have the same shape in a small and
 * in a large estate. Everything around them, and the subtree that scenarios move, is larger in a large estate.
 */

export interface FolderInput {
  name: string;
  title?: string;
  folders: FolderInput[];
}

export interface EstateShape {
  /** Each batch is one import below the folder of the estate. */
  readonly batches: readonly FolderInput[][];
  /** Paths of folders eight levels below the root, from all regions. */
  readonly deepPaths: readonly string[][];
}

export const estateName = 'Estate';
/** A folder with many subfolders: a hundredth of all folders. */
export const lettersName = 'Letters';
/** A folder with the same number and depth of descendants in every estate. */
export const houseName = 'House';
/** The subtree, a tenth of all folders, is moved between these two. */
export const moveTargetNames = ['North', 'South'] as const;
export const subtreeName = 'Warehouse';

export const searchHits = 60;
/** A word in `searchHits` folders of every estate. Its groups of three letters occur in no other name. */
export const rareWord = 'Quillwort';
/** A word in `searchHits` folders of every estate. Its groups of three letters also occur in many other names. */
export const composedWord = 'Stationer';

const maxDepth = 8;
const maxBatchFolders = 100_000;
const maxDeepPaths = 40;
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
  letters.folders = Array.from({ length: Math.max(100, Math.round(size / 100)) }, (_, index) => ({
    ...leaf(`Letter ${index + 1}`),
    title: `To the tenants, no. ${index + 1}`,
  }));
  const house = leaf(houseName);
  fill(house, 80, 5);
  const subtree = leaf(subtreeName);
  fill(subtree, Math.round(size / 10) - 1, 4);
  const commonFolders = [letters, house, ...moveTargetNames.map(leaf), subtree];
  const boroughs = shapeBoroughs();
  const plannedCount = [...commonFolders, ...boroughs].reduce((sum, each) => sum + countFolders(each), 1);
  const regions = shapeRegions(size - plannedCount);
  return {
    batches: splitIntoBatches([...commonFolders, ...distributeAmong(regions, boroughs)]),
    deepPaths: selectEvenly(findPaths(regions, maxDepth), maxDeepPaths),
  };
}

function leaf(name: string): FolderInput {
  return { name, folders: [] };
}

/** Creates enough regions for each one to fit into one import. */
function shapeRegions(total: number): FolderInput[] {
  const count = Math.max(4, Math.ceil(total / (maxBatchFolders / 2)));
  return shares(total, count, 1).map((share, index) => {
    const region = leaf(nameAt(index, 2));
    fill(region, share - 1, 3);
    return region;
  });
}

/** Gives a folder `count` descendants. The first descendants reach the maximum depth. */
function fill(folder: FolderInput, count: number, level: number): void {
  if (count <= 0) return;
  const levelsLeft = maxDepth - level + 1;
  const even = count ** (1 / levelsLeft);
  // Varies the number of children.
  const width = level === maxDepth ? count : Math.ceil(even * [1, 0.5, 2, 1, 1.5][folder.name.length % 5]!);
  folder.folders = shares(count, Math.min(count, width)).map((share, index) => {
    const child = leaf(nameAt(index, level));
    if (index % 3 === 1) child.title = `${child.name} of ${folder.name}`;
    fill(child, share - 1, level + 1);
    return child;
  });
}

/** Divides a number into `count` parts. Earlier parts are larger unless `favor` is 1. */
function shares(total: number, count: number, favor = 1.6): number[] {
  const parts: number[] = [];
  for (let left = total, rest = count; rest > 0; rest--) {
    const part = Math.min(left - (rest - 1), Math.ceil((left / rest) * (rest > 1 ? favor : 1)));
    parts.push(part);
    left -= part;
  }
  return parts;
}

function nameAt(index: number, level: number): string {
  const choice = words[level - 2]!;
  return `${choice[index % choice.length]!} ${index + 1}`;
}

/** Some leaves contain the search words. In every estate, the boroughs have the same number of folders and hits. */
function shapeBoroughs(): FolderInput[] {
  const boroughs = Array.from({ length: 4 }, (_, index) => {
    const borough = leaf(`Borough ${index + 1}`);
    fill(borough, 55, 4);
    return borough;
  });
  const leaves = [...everyFolder(boroughs)].filter(({ folders }) => folders.length === 0);
  selectEvenly(leaves, 2 * searchHits).forEach((folder, index) => {
    folder.name = `${[rareWord, composedWord][index % 2]!} ${index + 1}`;
    delete folder.title;
  });
  return boroughs;
}

function distributeAmong(regions: readonly FolderInput[], others: readonly FolderInput[]): FolderInput[] {
  const step = Math.floor(regions.length / others.length);
  return regions.flatMap((region, index) => [
    region,
    ...(index % step === 0 ? others.slice(index / step, index / step + 1) : []),
  ]);
}

function* everyFolder(folders: readonly FolderInput[]): Generator<FolderInput> {
  for (const folder of folders) {
    yield folder;
    yield* everyFolder(folder.folders);
  }
}

function findPaths(folders: readonly FolderInput[], depth: number): string[][] {
  const paths: string[][] = [];
  const walk = (inside: readonly FolderInput[], path: readonly string[]) => {
    for (const { name, folders: below } of inside) {
      if (path.length + 1 === depth) paths.push([...path, name]);
      else walk(below, [...path, name]);
    }
  };
  walk(folders, [estateName]);
  return paths;
}

function selectEvenly<T>(all: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]!);
}

export function countFolders(folder: FolderInput): number {
  return folder.folders.reduce((sum, each) => sum + countFolders(each), 1);
}

function splitIntoBatches(folders: readonly FolderInput[]): FolderInput[][] {
  const batches: FolderInput[][] = [];
  let room = 0;
  for (const folder of folders) {
    const count = countFolders(folder);
    if (count > room) {
      batches.push([]);
      room = maxBatchFolders;
    }
    batches.at(-1)!.push(folder);
    room -= count;
  }
  return batches;
}
