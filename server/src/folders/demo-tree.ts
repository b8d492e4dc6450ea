/** A demonstration tree: a company's places, projects and people, some hundred folders on up to five levels. */

import type { Transaction } from '../database/database.ts';
import { insertFolder } from './change-folders.ts';
import { readChildren, readRoot } from './folders.ts';

/** A folder's name and what is in it; a list of names is a list of empty folders. */
interface Branch {
  readonly [name: string]: Branch | readonly string[];
}

/** Leaves a tree that has folders already as it is. */
export async function plantDemoTree(transaction: Transaction, now: number): Promise<void> {
  const root = await readRoot(transaction);
  if ((await readChildren(transaction, [root.id], { limit: 1 })).size > 0) return;
  await plant(transaction, root.id, demoTree, now);
}

async function plant(
  transaction: Transaction,
  parentId: string,
  branch: Branch | readonly string[],
  now: number,
): Promise<void> {
  if (isList(branch)) {
    for (const name of branch) await insertFolder(transaction, { parentId, name }, now);
    return;
  }
  for (const [name, below] of Object.entries(branch)) {
    await plant(transaction, await insertFolder(transaction, { parentId, name }, now), below, now);
  }
}

function isList(branch: Branch | readonly string[]): branch is readonly string[] {
  return Array.isArray(branch);
}

const demoTree: Branch = {
  Archive: Object.fromEntries(
    [2019, 2020, 2021, 2022, 2023, 2024].map((year) => [
      String(year),
      ['Quarter 1', 'Quarter 2', 'Quarter 3', 'Quarter 4', 'Annual report'],
    ]),
  ),
  Departments: {
    Engineering: ['Backend', 'Frontend', 'Infrastructure', 'Quality', 'Research', 'Security'],
    Finance: ['Accounts payable', 'Accounts receivable', 'Audit', 'Budget', 'Payroll', 'Taxes'],
    Legal: ['Contracts', 'Data protection', 'Licences', 'Patents', 'Trademarks'],
    Marketing: ['Brand', 'Campaigns', 'Events', 'Press', 'Website'],
    People: ['Benefits', 'Hiring', 'Onboarding', 'Policies', 'Training'],
    Sales: ['Europe', 'Latin America', 'North America', 'Partners', 'Proposals'],
  },
  Places: {
    'Harbour Campus': {
      'Building A': floors(1, 4),
      'Building B': floors(1, 3),
      'Boat house': ['Dock', 'Store', 'Workshop'],
      Grounds: ['Car park', 'Garden', 'Gate', 'Jetty'],
    },
    'Hill Street Office': floors(1, 12),
    'Northern Warehouse': {
      ...Object.fromEntries(['Hall 1', 'Hall 2', 'Hall 3'].map((hall) => [hall, numbered('Bay', 1, 12)])),
      Yard: ['Loading ramp', 'Scales', 'Truck park'],
    },
  },
  Projects: Object.fromEntries(
    ['Aurora', 'Basalt', 'Cirrus', 'Delta', 'Ember', 'Fjord'].map((project) => [
      project,
      ['Decisions', 'Design', 'Meetings', 'Plan', 'Releases', 'Tests'],
    ]),
  ),
  Templates: ['Agenda', 'Contract', 'Invoice', 'Letter', 'Minutes', 'Offer', 'Report', 'Slides'],
};

function floors(first: number, last: number): Branch {
  return Object.fromEntries(
    numbered('Floor', first, last).map((floor, place) => [
      floor,
      numbered('Room', (first + place) * 100 + 1, (first + place) * 100 + 8),
    ]),
  );
}

function numbered(name: string, first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, place) => `${name} ${first + place}`);
}
