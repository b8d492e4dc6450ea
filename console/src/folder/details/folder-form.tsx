/** The texts and properties of a folder, to be edited: what is typed is kept until it is saved or discarded. */

import { useEffect, useState, type FormEvent } from 'react';
import { Form } from 'react-aria-components';
import { updateFolder } from '../../actions/folder-actions.ts';
import { describeProblem } from '../../graph/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy.tsx';
import { TextField } from '../../ui/fields.tsx';
import { ClashNote } from './edit-conflict.tsx';
import {
  changesOf,
  clashesOf,
  isDirty,
  keepMine,
  newDraft,
  savedOf,
  takeTheirs,
  type Draft,
  type TextField as TextFieldName,
} from './draft.ts';
import { drafts, useDraft } from './draft-store.ts';
import type { OpenFolder } from '../open-folder.ts';
import { PropertiesEditor } from './properties-editor.tsx';
import { saveDraft } from './save-draft.ts';

export function FolderForm({ folder }: { folder: OpenFolder }) {
  const { id, name } = folder;
  const saved = savedOf(folder);
  const kept = useDraft(id);
  const draft = kept ?? newDraft(saved);
  const isChanged = isDirty(draft, saved);
  const clashes = clashesOf(draft, saved);
  const changes = changesOf(draft, saved);
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const put = (next: Draft) =>
    drafts.put({ folderId: id, folderName: name, draft: next, isDirty: isDirty(next, saved) });
  const setText = (field: TextFieldName) => (text: string) =>
    put({ ...draft, texts: { ...draft.texts, [field]: text } });

  // Others may have made it the same, or something else than it was.
  useEffect(() => {
    if (kept) drafts.put({ folderId: id, folderName: name, draft: kept, isDirty: isChanged });
  }, [id, name, kept, isChanged]);

  const save = async (event?: FormEvent) => {
    event?.preventDefault();
    if (isPending || !isChanged || !changes) return;
    setPending(true);
    setProblem(null);
    try {
      await saveDraft(id);
    } catch (error) {
      setProblem(describeProblem(error).text);
    } finally {
      setPending(false);
    }
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return;
      event.preventDefault();
      void save();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });

  return (
    <Form className="folder-form" aria-label="Texts and properties" onSubmit={(event) => void save(event)}>
      {clashes.length > 0 && (
        <ClashNote
          clashes={clashes}
          onKeepMine={() => put(keepMine(draft, saved))}
          onTakeTheirs={() => put(takeTheirs(draft, saved, clashes))}
        />
      )}
      <section className="card" aria-labelledby="folder-texts">
        <h2 id="folder-texts">Texts</h2>
        <div className="folder-lines">
          <TextField
            label="Title"
            value={draft.texts.title ?? saved.title}
            onChange={setText('title')}
            placeholder={name}
            help="What people call it; the name, if it is empty."
          />
          <TextField
            label="Icon"
            value={draft.texts.icon ?? saved.icon}
            onChange={setText('icon')}
            help="An emoji, or what clients agree on."
          />
        </div>
        <TextField
          label="Description"
          rows={3}
          value={draft.texts.description ?? saved.description}
          onChange={setText('description')}
        />
      </section>
      <PropertiesEditor
        key={id}
        saved={saved.properties}
        edit={draft.properties}
        onChange={(properties) => put({ ...draft, properties })}
      />
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {isChanged && (
        <div className="folder-save" role="group" aria-label="Unsaved changes">
          <span className="folder-save-text">Unsaved changes</span>
          {changes && (
            <CopyAs
              call={{
                action: updateFolder,
                variables: { input: { id, ...changes, expectedVersion: saved.version } },
              }}
            />
          )}
          <span className="grow" />
          <Button onPress={() => drafts.drop(id)}>Discard</Button>
          <Button
            type="submit"
            tone="primary"
            isPending={isPending}
            isDisabled={!changes || clashes.length > 0}
          >
            Save
          </Button>
        </div>
      )}
    </Form>
  );
}
