/** The graph's words for levels, filters and orders. */

import { accessLevels, type AccessLevel } from '../../access/access-level.ts';
import type { FolderFilter } from '../../folders/folder-list.ts';
import { longestName } from '../../folders/folder-name.ts';
import { Refusal } from '../../refusal.ts';
import type { Builder } from '../builder.ts';

export function defineFolderInputs(builder: Builder) {
  const AccessLevel = builder.enumType('AccessLevel', {
    description: 'What somebody may do with a folder. Each level includes those before it.',
    values: {
      NONE: { value: accessLevels.NONE, description: 'Nothing, or only pass through to something deeper.' },
      READ: { value: accessLevels.READ, description: 'See it and what is inside.' },
      WRITE: { value: accessLevels.WRITE, description: 'Change it, and what is inside.' },
      MANAGE: { value: accessLevels.MANAGE, description: 'Decide who may do what.' },
    } satisfies Record<string, { value: AccessLevel; description: string }>,
  });

  const OrderField = builder.enumType('FolderOrderField', {
    values: {
      NAME: { description: 'In natural order: "Floor 2" before "Floor 10".' },
      CREATED: {},
      UPDATED: {},
    },
  });

  const Direction = builder.enumType('OrderDirection', { values: ['ASC', 'DESC'] as const });

  const FolderOrder = builder.inputType('FolderOrder', {
    fields: (t) => ({
      field: t.field({ type: OrderField, required: true }),
      direction: t.field({ type: Direction, required: true, defaultValue: 'ASC' }),
    }),
  });

  const FolderFilter = builder.inputType('FolderFilter', {
    description: 'Names are compared without regard to case and accents.',
    fields: (t) => ({
      nameContains: t.string(),
      nameStartsWith: t.string(),
      hasChildren: t.boolean({ description: 'Whether there are sub-folders that you may see.' }),
      updatedSince: t.field({ type: 'DateTime', description: 'Changed then or later.' }),
    }),
  });

  return { AccessLevel, FolderFilter, FolderOrder };
}

interface GivenFilter {
  readonly nameContains?: string | null | undefined;
  readonly nameStartsWith?: string | null | undefined;
  readonly hasChildren?: boolean | null | undefined;
  readonly updatedSince?: number | null | undefined;
}

/** Undefined if it leaves nothing out. */
export function toFilter(given: GivenFilter | null | undefined): FolderFilter | undefined {
  if (!given) return undefined;
  const filter = {
    nameContains: toPartOfName(given.nameContains, 'nameContains'),
    nameStartsWith: toPartOfName(given.nameStartsWith, 'nameStartsWith'),
    hasChildren: given.hasChildren ?? undefined,
    updatedSince: given.updatedSince ?? undefined,
  };
  return Object.values(filter).some((value) => value !== undefined) ? filter : undefined;
}

function toPartOfName(given: string | null | undefined, argument: string): string | undefined {
  if (!given) return undefined;
  if (given.length > 2 * longestName || [...given].length > longestName) {
    throw new Refusal('BAD_INPUT', `\`${argument}\` has at most ${longestName} characters, as a name has.`);
  }
  if (!given.isWellFormed() || /\p{Cc}/u.test(given)) {
    throw new Refusal(
      'BAD_INPUT',
      `\`${argument}\` must be well-formed Unicode without control characters, as a name is.`,
    );
  }
  return given;
}
