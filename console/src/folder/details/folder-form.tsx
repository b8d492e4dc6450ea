/**
 * The form for the texts and properties of a folder. The draft is stored until it is saved or discarded, even if the viewer
 * loses the right to save it.
 */

import { lazy, Suspense, useEffect, useLayoutEffect, useRef, useState, type FormEvent } from 'react';
import { Form } from 'react-aria-components';
import { updateFolder, type FolderTexts } from '../../actions/folder-actions.ts';
import { describeProblem, isEdited, type Problem } from '../../graph/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CopyAs, CopyButton } from '../../ui/copy.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Loading } from '../../ui/states.tsx';
import { Name } from '../../ui/text.tsx';
import type { CurrentFolder } from '../current-folder.ts';
import { drafts, useDraft } from './draft-store.ts';
import {
  collectChanges,
  createDraft,
  findConflicts,
  isDirty,
  keepMine,
  listFields,
  takeTheirs,
  toSavedFields,
  type Draft,
  type SavedFields,
  type TextField as TextFieldName,
} from './draft.ts';
import { PropertiesEditor } from './properties-editor.tsx';
import { saveDraft } from './save-draft.ts';

/** Its table is not part of the first load. */
const EditConflictNote = lazy(async () => ({
  default: (await import('./edit-conflict.tsx')).EditConflictNote,
}));

const noErrors = {};

export function FolderForm({ folder }: { folder: CurrentFolder }) {
  const { id, name } = folder;
  const saved = toSavedFields(folder);
  const storedDraft = useDraft(id);
  const draft = storedDraft ?? createDraft(saved);
  const isChanged = isDirty(draft, saved);
  const conflicts = findConflicts(draft, saved);
  const changes = collectChanges(draft, saved);

  const put = (next: Draft) =>
    drafts.put({ folderId: id, folderName: name, draft: next, isDirty: isDirty(next, saved) });

  // A change by another user can make the draft dirty or clean.
  useEffect(() => {
    if (storedDraft) drafts.put({ folderId: id, folderName: name, draft: storedDraft, isDirty: isChanged });
  }, [id, name, storedDraft, isChanged]);

  const { isPending, problem, forget, save } = useSave(id, isChanged && changes !== null);
  return (
    <div className="contents" onInput={(event) => isEdited(problem, event) && forget()}>
      <Form
        className="folder-form"
        aria-label="Texts and properties"
        validationBehavior="aria"
        validationErrors={problem?.fieldErrors ?? noErrors}
        onSubmit={(event) => void save(event)}
      >
        {conflicts.length > 0 && (
          <Suspense fallback={<Loading />}>
            <EditConflictNote
              conflicts={conflicts}
              onKeepMine={() => put(keepMine(draft, saved))}
              onTakeTheirs={() => put(takeTheirs(draft, saved, conflicts))}
            />
          </Suspense>
        )}
        <TextFields name={name} draft={draft} saved={saved} onChange={put} />
        <PropertiesEditor
          key={id}
          saved={saved.properties}
          edit={draft.properties}
          problem={problem?.fieldErrors['properties']}
          onChange={(properties) => put({ ...draft, properties })}
        />
        {isChanged && (
          <SaveBar
            folderId={id}
            problem={problem?.text}
            changes={changes}
            expectedVersion={saved.version}
            isPending={isPending}
            hasConflicts={conflicts.length > 0}
          />
        )}
      </Form>
    </div>
  );
}

/** Saves the draft when the form is submitted or Ctrl+S is pressed. */
function useSave(folderId: string, canSave: boolean) {
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const save = async (event?: FormEvent) => {
    event?.preventDefault();
    if (isPending || !canSave) return;
    setPending(true);
    setProblem(null);
    try {
      await saveDraft(folderId);
    } catch (error) {
      setProblem(describeProblem(error));
    } finally {
      setPending(false);
    }
  };
  useEffect(() => {
    if (!canSave) setProblem(null);
  }, [canSave]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return;
      event.preventDefault();
      void save();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
  return { isPending, problem, forget: () => setProblem(null), save };
}

interface SaveBarProps {
  readonly folderId: string;
  /** Why the last save failed. */
  readonly problem: string | undefined;
  /** Null if the draft is invalid. */
  readonly changes: FolderTexts | null;
  readonly expectedVersion: number;
  readonly isPending: boolean;
  readonly hasConflicts: boolean;
}

function SaveBar(props: SaveBarProps) {
  const { folderId: id, problem, changes, expectedVersion, isPending, hasConflicts } = props;
  const bar = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => reserveSpace(bar.current!), []);
  return (
    <div ref={bar} className="folder-save" role="group" aria-label="Unsaved changes">
      {problem !== undefined && (
        <p className="problem" role="alert">
          Not saved. <Name>{problem}</Name>
        </p>
      )}
      <span className="folder-save-text">Unsaved changes</span>
      {changes && (
        <CopyAs call={{ action: updateFolder, variables: { input: { id, ...changes, expectedVersion } } }} />
      )}
      <span className="grow" />
      <Button onPress={() => drafts.drop(id)}>Discard</Button>
      <Button type="submit" tone="primary" isPending={isPending} isDisabled={!changes || hasConflicts}>
        Save
      </Button>
    </div>
  );
}

/** Keeps messages above the bar, which grows with its text. */
function reserveSpace(bar: HTMLElement): () => void {
  const { style } = document.documentElement;
  const observer = new ResizeObserver(() => style.setProperty('--save-bar', `${bar.offsetHeight + 10}px`));
  observer.observe(bar);
  return () => {
    observer.disconnect();
    style.removeProperty('--save-bar');
  };
}

interface TextFieldsProps {
  readonly name: string;
  readonly draft: Draft;
  readonly saved: SavedFields;
  readonly onChange: (draft: Draft) => void;
}

function TextFields({ name, draft, saved, onChange }: TextFieldsProps) {
  const setText = (field: TextFieldName) => (text: string) =>
    onChange({ ...draft, texts: { ...draft.texts, [field]: text } });
  return (
    <section className="card" aria-labelledby="folder-texts">
      <h2 id="folder-texts">Texts</h2>
      <div className="folder-lines">
        <TextField
          label="Title"
          name="title"
          value={draft.texts.title ?? saved.title}
          onChange={setText('title')}
          placeholder={name}
          help="Displayed after the name. Optional."
        />
        <TextField
          label="Icon"
          name="icon"
          value={draft.texts.icon ?? saved.icon}
          onChange={setText('icon')}
          help="An emoji, or a text that your clients understand."
        />
      </div>
      <TextField
        label="Description"
        name="description"
        rows={3}
        value={draft.texts.description ?? saved.description}
        onChange={setText('description')}
      />
    </section>
  );
}

/** The unsaved edits of a folder that the viewer can no longer change. */
export function LostDraft({ folderId }: { folderId: string }) {
  const draft = useDraft(folderId);
  const fields = draft ? listFields(draft) : [];
  const section = useRef<HTMLElement>(null);
  // The page is still scrolled to the field that the user edited.
  useEffect(() => void section.current?.scrollIntoView({ block: 'nearest' }), []);
  if (fields.length === 0) return null;
  return (
    <section ref={section} className="card folder-lost" aria-labelledby="lost-draft" role="status">
      <div className="card-header">
        <h2 id="lost-draft">Your unsaved changes</h2>
        <span className="grow" />
        <Button size="small" onPress={() => drafts.drop(folderId)}>
          Discard
        </Button>
      </div>
      <p>You can no longer change this folder. Copy your changes before you discard them.</p>
      <dl className="facts">
        {fields.map(({ label, text }) => (
          <div key={label} className="contents">
            <dt>{label}</dt>
            <dd className="folder-copied">
              <span className="folder-description">{text || <span className="soft">empty</span>}</span>
              <CopyButton label={`Copy ${label.toLowerCase()}`} text={text} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
