/** Renames a folder in its row. The new name is shown immediately. If the server rejects it, the field opens again with the typed text. */

import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { reportFailure } from '../../actions/perform.ts';
import type { FolderRow } from '../../graph/live.tsx';
import { describeProblem } from '../../graph/problem.ts';
import { changeFolder } from '../edit/folder-operations.ts';
import type { TreeStore } from '../state/tree-store.ts';
import { isComposing } from '../../ui/typing.ts';

interface Rename {
  readonly edit: { readonly id: string; readonly field: ReactNode } | null;
  readonly begin: (folder: FolderRow) => void;
}

/** `onEnd` moves the focus back to the tree. */
export function useRename(store: TreeStore, onEnd: () => void): Rename {
  const [renameState, setRenameState] = useState<RenameState | null>(null);
  // Closing the field also blurs it, which calls `save`. The ref is null by then, so that call does nothing.
  const latest = useRef<RenameState | null>(null);
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => void (isMounted.current = false);
  }, []);
  const set = (next: RenameState | null) => {
    latest.current = next;
    setRenameState(next);
  };
  const leave = () => {
    set(null);
    onEnd();
  };
  const save = async (isExplicit: boolean) => {
    const { current } = latest;
    if (!current) return;
    const folder = store.folder(current.id);
    const text = current.text.trim();
    if (!folder || text === folder.name) return leave();
    if (text === '') return set({ ...current, problem: 'A folder needs a name.' });
    // A rejected name stays in the open field until the user edits it, or presses Enter or Escape.
    if (!isExplicit && current.problem !== null) return;
    const { id, name, parent } = folder;
    leave();
    try {
      await changeFolder({ id, name, parentId: parent?.id ?? null }, { name: text }, { name });
    } catch (error) {
      const problem = describeProblem(error).text;
      // Do not reopen the field if another rename has begun or another screen is open.
      if (isMounted.current && latest.current === null) set({ id, text: current.text, problem });
      else reportFailure(`Cannot rename “${name}” to “${text}”: ${problem}`);
    }
  };
  return {
    begin: ({ id, name }) => set({ id, text: name, problem: null }),
    edit: renameState && {
      id: renameState.id,
      field: (
        <RenameField
          renaming={renameState}
          onChange={(text) => set({ ...renameState, text, problem: null })}
          onSave={() => void save(true)}
          onBlur={() => void save(false)}
          onLeave={leave}
        />
      ),
    },
  };
}
interface RenameState {
  readonly id: string;
  readonly text: string;
  readonly problem: string | null;
}
interface RenameFieldProps {
  readonly renaming: RenameState;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  readonly onBlur: () => void;
  readonly onLeave: () => void;
}

function RenameField({ renaming, onChange, onSave, onBlur, onLeave }: RenameFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const problemId = useId();
  const { text, problem } = renaming;
  const isFirstAttempt = useRef(problem === null);
  useEffect(() => {
    field.current?.focus();
    // A rejected name is corrected rather than retyped, so its text is not selected.
    if (isFirstAttempt.current) field.current?.select();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (isComposing(event)) return;
    if (event.key === 'Enter') onSave();
    else if (event.key === 'Escape') onLeave();
  };
  return (
    <span className="tree-rename">
      <input
        ref={field}
        className="input"
        aria-label="New name"
        aria-invalid={problem !== null || undefined}
        aria-describedby={problem === null ? undefined : problemId}
        autoComplete="off"
        spellCheck={false}
        maxLength={255}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={onBlur}
      />
      {problem !== null && (
        <span className="tree-rename-problem" id={problemId} role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}
