/** The tree of the console on a page, by what screen readers know of it. */

import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

export class TreePage {
  readonly page: Page;
  readonly tree: Locator;

  constructor(page: Page) {
    this.page = page;
    this.tree = page.getByRole('tree', { name: 'Folders' });
  }

  /** Its title, and what others have done with it, are part of what screen readers call it. */
  row(name: string): Locator {
    const named = this.page.locator('.tree-name').getByText(name, { exact: true });
    return this.tree.getByRole('treeitem').filter({ has: named });
  }

  async isShown(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.row(name).waitFor();
  }

  async isGone(name: string): Promise<void> {
    await this.row(name).waitFor({ state: 'detached' });
  }

  async toggle(name: string): Promise<void> {
    await this.row(name).locator('[data-part=toggle]').click();
  }

  /** From its menu. */
  async choose(name: string, choice: string): Promise<void> {
    await this.row(name).click({ button: 'right' });
    await this.page.getByRole('menuitem', { name: choice }).click();
  }

  /** By the mouse, as far as it can be seen. */
  async drag(name: string, into: string): Promise<void> {
    const { mouse } = this.page;
    const [from, to] = await Promise.all([name, into].map((each) => this.#middleOf(each)));
    await mouse.move(from!.x, from!.y);
    await mouse.down();
    await mouse.move(to!.x, to!.y - 3, { steps: 4 });
    await mouse.move(to!.x, to!.y);
    await mouse.up();
  }

  hasKeyboard(): Promise<boolean> {
    return this.page.evaluate<boolean>("document.activeElement?.getAttribute('role') === 'tree'");
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.tree.press(key);
  }

  /** Of the row that has the focus, as a screen reader tells it; waits until its name is that. */
  async hasFocus(name: string): Promise<Readonly<Record<string, string | null>>> {
    const row = this.row(name);
    await row.and(this.tree.locator('[data-focused]')).waitFor();
    const [active, id] = await Promise.all([
      this.tree.getAttribute('aria-activedescendant'),
      row.getAttribute('id'),
    ]);
    assert.equal(active, id);
    return this.toldOf(name);
  }

  async toldOf(name: string): Promise<Readonly<Record<string, string | null>>> {
    const read = async (of: string) => [of, await this.row(name).getAttribute(`aria-${of}`)] as const;
    return Object.fromEntries(
      await Promise.all(['level', 'posinset', 'setsize', 'expanded', 'selected'].map(read)),
    );
  }

  /** The message of what was done, with a way back. */
  said(text: string): Locator {
    const messages = this.page.getByRole('region', { name: 'Messages' }).getByRole('listitem');
    return messages.filter({ hasText: text });
  }

  async undo(text: string): Promise<void> {
    await this.said(text).getByRole('button', { name: 'Undo' }).click();
  }

  async #middleOf(name: string): Promise<{ x: number; y: number }> {
    const box = (await this.row(name).boundingBox())!;
    return { x: box.x + Math.min(120, box.width / 2), y: box.y + box.height / 2 };
  }
}
