/** The demo tree: a company's places, projects and people, a few hundred folders on up to five levels. */

import { accessLevels } from '../../access/access.ts';
import type { Transaction } from '../../database/database.ts';
import { sql } from '../../database/statement.ts';
import { insertRows } from '../new-folder-rows.ts';
import { planImport, type ImportedTree } from './import-plan.ts';
import { finishImport, newRowsOf } from './import-writes.ts';

/** Names of folders with their subtrees. A list of names stands for empty folders. */
interface Branch {
  readonly [name: string]: Branch | readonly string[];
}

const findEmptyRoot = sql<object, { id: string; name: string; version: number }>`
  select id, name, version from folders where parent_id is null and detached_at is null and child_count = 0`;

/** Does nothing if the tree already has folders. */
export async function createDemoTree(transaction: Transaction, now: number): Promise<void> {
  const root = await transaction.get(findEmptyRoot, {});
  if (!root) return;
  const tree = toTree(demoTree);
  const plan = await planImport({ tree }, { now, maxFolders: Infinity, beforeRows: () => undefined });
  const destination = { ...root, accessLevel: accessLevels.MANAGE, pathIds: [root.id], path: '/' };
  const tops = plan.tops.map((row) => ({ row, parent: destination }));
  const match = { tops, existing: new Map(), updates: new Map() };
  await insertRows(transaction, newRowsOf(plan, match));
  await finishImport(transaction, plan, { match, destination }, { byUserId: null, now });
}

function toTree(branch: Branch | readonly string[]): ImportedTree[] {
  if (isList(branch)) return branch.map((name) => ({ name }));
  return Object.entries(branch).map(([name, below]) => ({ name, folders: toTree(below) }));
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
    Legal: ['Contracts', 'Data protection', 'Licenses', 'Patents', 'Trademarks'],
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
    numbered('Floor', first, last).map((floor, index) => [
      floor,
      numbered('Room', (first + index) * 100 + 1, (first + index) * 100 + 8),
    ]),
  );
}

function numbered(name: string, first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${name} ${first + index}`);
}
