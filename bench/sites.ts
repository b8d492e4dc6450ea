/** The installations that are measured in the same rounds: this checkout, another size of the tree, another checkout. */

import type { Bench, PreparedSite } from './scenario.ts';
import { Site, type DatabaseName } from './site.ts';
import { createTree, minFolders } from './tree.ts';

interface SiteChoice {
  readonly label: string;
  readonly folders: number;
  readonly checkout?: string;
}

export async function withSites(
  database: DatabaseName,
  bench: Bench,
  work: (sites: readonly PreparedSite[]) => Promise<void>,
): Promise<void> {
  const sites: PreparedSite[] = [];
  try {
    for (const choice of listSiteChoices(bench)) sites.push(await prepare(database, choice, bench));
    await work(sites);
  } finally {
    for (const { site } of sites) await site.stop();
  }
}

function listSiteChoices({ folders, compareSizes, against }: Bench): SiteChoice[] {
  const label = compareSizes ? `${folders.toLocaleString('en')} folders` : 'this checkout';
  return [
    { label, folders },
    ...(compareSizes ? [{ label: `${minFolders.toLocaleString('en')} folders`, folders: minFolders }] : []),
    ...(against ? [{ label: 'other checkout', folders, checkout: against }] : []),
  ];
}

async function prepare(database: DatabaseName, choice: SiteChoice, bench: Bench): Promise<PreparedSite> {
  const { label, folders, checkout } = choice;
  const { settings, signal } = bench;
  const site = await Site.start({ database, checkout, settings, signal });
  try {
    const note = (text: string) => bench.note(`${database}, ${label}: ${text}`);
    const tree = await createTree(await site.createQueryRunner(), folders, note);
    await site.settle();
    return { label, site, tree };
  } catch (error) {
    await site.stop();
    throw error;
  }
}
