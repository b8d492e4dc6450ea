/** Two people at the same folder: what the other has saved beside what was typed here, and a choice between them. */

import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { isAlike, type Clash } from './draft.ts';

interface ClashNoteProps {
  readonly clashes: readonly Clash[];
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
}

export function ClashNote({ clashes, onKeepMine, onTakeTheirs }: ClashNoteProps) {
  return (
    <section className="folder-clash" role="alert">
      <h2>
        <Icon name="warning" /> Somebody has changed this folder meanwhile
      </h2>
      <p>Nothing is lost: choose which of the two shall stand. What else you typed stays as it is.</p>
      <div className="table-frame">
        <table className="table">
          <caption className="visually-hidden">Theirs beside yours</caption>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Theirs</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {clashes.flatMap(linesOf).map(({ what, theirs, mine }) => (
              <tr key={what}>
                <th scope="row">{what}</th>
                <td>{theirs}</td>
                <td>{mine}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="folder-clash-choice">
        <Button icon="download" onPress={onTakeTheirs}>
          Take theirs
        </Button>
        <Button icon="edit" onPress={onKeepMine}>
          Keep mine
        </Button>
      </div>
    </section>
  );
}

interface Line {
  readonly what: string;
  readonly theirs: string;
  readonly mine: string;
}

/** Of properties, only those that differ. */
function linesOf({ field, theirs, mine }: Clash): Line[] {
  if (typeof theirs === 'string') {
    return [{ what: labels[field], theirs: theirs || 'none', mine: (mine as string) || 'none' }];
  }
  if (mine === null) return [{ what: 'Properties', theirs: shown(theirs), mine: 'not right yet' }];
  const [ours, others] = [new Map(Object.entries(mine)), new Map(Object.entries(theirs))];
  const names = [...new Set([...others.keys(), ...ours.keys()])];
  return names
    .filter((name) => !isAlike(ours.get(name), others.get(name)))
    .map((name) => ({
      what: `Property “${name}”`,
      theirs: others.has(name) ? shown(others.get(name)) : 'none',
      mine: ours.has(name) ? shown(ours.get(name)) : 'none',
    }));
}

const labels: Readonly<Record<Clash['field'], string>> = {
  title: 'Title',
  icon: 'Icon',
  description: 'Description',
  properties: 'Properties',
};

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
