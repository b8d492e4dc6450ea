/** The tree of the console on a page, as screen readers see it. */

import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';

export class TreePage {
  readonly page: Page;
  readonly tree: Locator;

  constructor(page: Page) {
    this.page = page;
    this.tree = page.getByRole('tree', { name: 'Folders' });
  }

  /** Finds a row by name. The accessible name also contains the title and recent changes of others. */
  row(name: string): Locator {
    const nameElement = this.page.locator('.tree-name').getByText(name, { exact: true });
    return this.tree.getByRole('treeitem').filter({ has: nameElement });
  }

  async waitUntilVisible(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.row(name).waitFor();
  }

  /** Waits until the row is inside the scrolled part of the tree. */
  async waitUntilInView(name: string): Promise<void> {
    await eventually(async () => {
      const [row, tree] = await Promise.all([this.row(name), this.tree].map((each) => each.boundingBox()));
      return (
        row !== null && tree !== null && row!.y >= tree!.y && row!.y + row!.height <= tree!.y + tree!.height
      );
    }, `“${name}” is in view`);
  }

  async waitUntilGone(name: string): Promise<void> {
    await this.row(name).waitFor({ state: 'detached' });
  }

  async toggle(name: string): Promise<void> {
    await this.row(name).locator('[data-part=toggle]').click();
  }

  /** Chooses an item of the row's menu. */
  async choose(name: string, choice: string): Promise<void> {
    await this.row(name).click({ button: 'right' });
    await this.page.getByRole('menuitem', { name: choice }).click();
  }

  /** Drags a row with the mouse to another visible row. */
  async drag(name: string, into: string): Promise<void> {
    const { mouse } = this.page;
    const [from, to] = await Promise.all([name, into].map((each) => this.#middleOf(each)));
    await mouse.move(from!.x, from!.y);
    await mouse.down();
    await mouse.move(to!.x, to!.y - 3, { steps: 4 });
    await mouse.move(to!.x, to!.y);
    await mouse.up();
  }

  hasFocus(): Promise<boolean> {
    return this.page.evaluate<boolean>("document.activeElement?.getAttribute('role') === 'tree'");
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.tree.press(key);
  }

  /** Waits until this row has the focus and returns its ARIA attributes. */
  async waitForFocus(name: string): Promise<Readonly<Record<string, string | null>>> {
    const row = this.row(name);
    await row.and(this.tree.locator('[data-focused]')).waitFor();
    const [active, id] = await Promise.all([
      this.tree.getAttribute('aria-activedescendant'),
      row.getAttribute('id'),
    ]);
    assert.equal(active, id);
    return this.readAttributes(name);
  }

  async readAttributes(name: string): Promise<Readonly<Record<string, string | null>>> {
    const read = async (of: string) => [of, await this.row(name).getAttribute(`aria-${of}`)] as const;
    return Object.fromEntries(
      await Promise.all(['level', 'posinset', 'setsize', 'expanded', 'selected'].map(read)),
    );
  }

  /** Finds the message about an action, with its undo button. */
  message(text: string): Locator {
    const messages = this.page.getByRole('region', { name: 'Messages' }).getByRole('listitem');
    return messages.filter({ hasText: text });
  }

  async undo(text: string): Promise<void> {
    await this.message(text).getByRole('button', { name: 'Undo' }).click();
  }

  async #middleOf(name: string): Promise<{ x: number; y: number }> {
    const box = (await this.row(name).boundingBox())!;
    return { x: box.x + Math.min(120, box.width / 2), y: box.y + box.height / 2 };
  }
}
