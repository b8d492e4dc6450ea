/** Goes to the next folder whose name begins with what is typed: among its siblings that are known, else by the server. */

import { plainText } from './search-match.ts';
import type { Tree } from './tree.ts';

/** Letters that follow each other sooner belong to one name. */
const pauseMs = 700;

export class TypeAhead {
  readonly #tree: Tree;
  #text = '';
  #timer: ReturnType<typeof setTimeout> | null = null;
  #asked = 0;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  get isTyping(): boolean {
    return this.#text !== '';
  }

  async type(letter: string): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#text = ''), pauseMs);
    this.#text += letter;
    // The same letter again and again goes from one to the next.
    const isRepeated = [...this.#text].every((each) => each === letter);
    const text = isRepeated ? letter : this.#text;
    const { store, focus, loader } = this.#tree;
    const row = store.rowAt(focus.index);
    if (!row) return;
    const { parentId, place, siblings } = row;
    const parent = parentId ?? store.root!.id;
    const level = store.level(parent);
    if (!level) return;
    const start = parentId === null ? 0 : place + (text.length === 1 ? 1 : 0);
    const id = firstKnown();
    if (id !== null) return focus.moveToFolder(id);
    if (level.isWhole) return;
    const asked = ++this.#asked;
    const found = await loader.beginning(parent, text);
    if (found !== null && asked === this.#asked) focus.moveToFolder(found);

    function firstKnown(): string | null {
      const total = parentId === null ? level!.total : siblings;
      for (let step = 0; step < Math.min(total, 10_000); step++) {
        const one = level!.idAt((start + step) % total);
        const name = one === undefined ? undefined : store.folder(one)?.name;
        if (name !== undefined && plainText(name).startsWith(plainText(text))) return one!;
      }
      return null;
    }
  }
}
