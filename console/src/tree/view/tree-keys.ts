/** Maps key presses to actions of the tree, after the WAI-ARIA tree pattern and common file managers. */

/** Commands that the owner of the tree view carries out. */
export type TreeCommand = 'rename' | 'create' | 'delete' | 'cut' | 'paste' | 'undo' | 'menu' | 'leave';

export type TreeKey =
  | {
      readonly kind: 'move';
      readonly by: number | 'first' | 'last' | 'pageUp' | 'pageDown';
      readonly extends: boolean;
    }
  | { readonly kind: 'in' | 'out' | 'expandSiblings' | 'selectSiblings' | 'open' | 'toggle' }
  | { readonly kind: 'type'; readonly text: string }
  | { readonly kind: 'command'; readonly command: TreeCommand };

/** The used part of a keyboard event. */
export interface KeyPress {
  readonly key: string;
  readonly code: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const moves: Readonly<Record<string, number | 'first' | 'last' | 'pageUp' | 'pageDown'>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  Home: 'first',
  End: 'last',
  PageUp: 'pageUp',
  PageDown: 'pageDown',
};

const plainKeys: Readonly<Record<string, TreeKey>> = {
  ArrowRight: { kind: 'in' },
  ArrowLeft: { kind: 'out' },
  Enter: { kind: 'open' },
  ' ': { kind: 'toggle' },
  '*': { kind: 'expandSiblings' },
  F2: { kind: 'command', command: 'rename' },
  Insert: { kind: 'command', command: 'create' },
  Delete: { kind: 'command', command: 'delete' },
  ContextMenu: { kind: 'command', command: 'menu' },
  Escape: { kind: 'command', command: 'leave' },
};

const controlKeys: Readonly<Record<string, TreeCommand>> = {
  x: 'cut',
  v: 'paste',
  z: 'undo',
  backspace: 'delete',
};

/** Returns null if the tree does not use the key. */
export function mapKey(press: KeyPress, isTyping: boolean): TreeKey | null {
  const { key, code, shiftKey, altKey } = press;
  const isControl = press.ctrlKey || press.metaKey;
  const toCommand = (command: TreeCommand): TreeKey => ({ kind: 'command', command });
  if (altKey) return !isControl && code === 'KeyN' ? toCommand('create') : null;
  if (isControl) {
    if (!shiftKey && key.toLowerCase() === 'a') return { kind: 'selectSiblings' };
    const command = shiftKey ? undefined : controlKeys[key.toLowerCase()];
    return command === undefined ? null : toCommand(command);
  }
  if (shiftKey && key === 'F10') return toCommand('menu');
  const by = moves[key];
  if (by !== undefined) return { kind: 'move', by, extends: shiftKey };
  if (key === ' ' && isTyping) return { kind: 'type', text: key };
  const treeKey = plainKeys[key];
  if (treeKey && (!shiftKey || key === '*')) return treeKey;
  return [...key].length === 1 ? { kind: 'type', text: key } : null;
}
