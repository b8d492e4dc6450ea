/** The name of a folder, edited in its row: Enter saves, Escape leaves. What was typed stays until then. */

import { useEffect, useId, useRef, type KeyboardEvent } from 'react';
import { isComposing } from '../ui/composing.ts';

export interface Renaming {
  readonly id: string;
  readonly text: string;
  readonly problem: string | null;
}

interface RenameFieldProps {
  readonly renaming: Renaming;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  readonly onBlur: () => void;
  readonly onLeave: () => void;
}

export function RenameField({ renaming, onChange, onSave, onBlur, onLeave }: RenameFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const problemId = useId();
  const { text, problem } = renaming;
  const isFirst = useRef(problem === null);
  useEffect(() => {
    field.current?.focus();
    // What was refused is mended, not typed anew.
    if (isFirst.current) field.current?.select();
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
