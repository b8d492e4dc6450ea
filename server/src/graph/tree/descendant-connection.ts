/** Everything below a folder, as one flat list whose edges carry their depth. */

import type { GraphQLResolveInfo } from 'graphql';
import { fromCursor, toCursor } from '../../folders/cursor.ts';
import {
  countDescendants,
  placesOf,
  readDescendants,
  wayKey,
  type Descendant,
  type Descendants,
} from '../../folders/descendants.ts';
import { Refusal } from '../../refusal.ts';
import type { Budget } from '../price/budget.ts';
import { pageSize, type FolderConnection, type FolderEdge } from './folder-connection.ts';
import { FolderLevel, type FolderNode } from './folder-level.ts';
import type { PageInfo } from '../page-info.ts';

export interface DescendantArguments {
  readonly depth?: number | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

export class DescendantConnection implements FolderConnection, PageInfo {
  readonly #top: FolderNode;
  readonly #given: DescendantArguments;
  readonly #budget: Budget;
  readonly #info: GraphQLResolveInfo;
  #page: Promise<Descendants> | undefined;

  constructor(top: FolderNode, given: DescendantArguments, budget: Budget, info: GraphQLResolveInfo) {
    pageSize(given, budget, info);
    if (typeof given.depth === 'number' && given.depth < 1) {
      throw new Refusal('BAD_INPUT', '`depth` must be at least 1.');
    }
    this.#top = top;
    this.#given = given;
    this.#budget = budget;
    this.#info = info;
  }

  get edges(): Promise<readonly FolderEdge[]> {
    return this.#read().then(({ found }) => {
      const { nodes } = new FolderLevel(
        this.#top.level.view,
        found.map(({ folder }) => folder),
      );
      const cursorOf = (descendant: Descendant) => this.#cursorOf(descendant);
      return found.map((descendant, place) => ({
        node: nodes[place]!,
        depth: descendant.depth,
        get cursor() {
          return cursorOf(descendant);
        },
      }));
    });
  }

  get totalCount(): Promise<number> {
    const { level, folder } = this.#top;
    return countDescendants(level.view, folder, this.#given.depth ?? undefined);
  }

  get pageInfo(): PageInfo {
    return this;
  }

  get startCursor(): Promise<string | null> {
    return this.#cursorAt(0);
  }

  get endCursor(): Promise<string | null> {
    return this.#cursorAt(-1);
  }

  get hasNextPage(): Promise<boolean> {
    return this.#read().then(({ isCut }) => isCut);
  }

  /** A cursor comes from a page before. */
  get hasPreviousPage(): boolean {
    return typeof this.#given.after === 'string';
  }

  #read(): Promise<Descendants> {
    return (this.#page ??= this.#readPage());
  }

  async #readPage(): Promise<Descendants> {
    const { level, folder } = this.#top;
    const { depth, first, after } = this.#given;
    const slice = {
      depth: depth ?? undefined,
      first: first ?? undefined,
      after: typeof after === 'string' ? placesOf(fromCursor(this.#list, after, 'after').key) : undefined,
    };
    const page = await readDescendants(level.view, folder, slice, this.#budget.foldersLeft);
    if (page.isTooMuch) throw this.#budget.exceeded(this.#info);
    return page;
  }

  async #cursorAt(place: number): Promise<string | null> {
    const descendant = (await this.#read()).found.at(place);
    return descendant ? this.#cursorOf(descendant) : null;
  }

  #cursorOf(descendant: Descendant): string {
    return toCursor(this.#list, { id: descendant.folder.id, key: wayKey(descendant) });
  }

  get #list(): string {
    return `descendants ${this.#top.id}`;
  }
}
