/** The health of a node: a summary line and one line for each check. */

import { Icon } from '../../ui/icons.tsx';

export interface HealthCheck {
  readonly name: string;
  readonly isOk: boolean;
  readonly detail: string;
}

/** `isStale` means that the last poll failed: the checks must not be shown as passing. */
export function Health({ checks, isStale }: { checks: readonly HealthCheck[]; isStale: boolean }) {
  const failing = checks.filter(({ isOk }) => !isOk).length;
  const isOk = failing === 0 && !isStale;
  // Failed checks come first.
  const sorted = checks.toSorted((one, other) => Number(one.isOk) - Number(other.isOk));
  return (
    <section className={`card overview-health ${isOk ? 'good' : 'bad'}`} aria-label="Health">
      <header className="overview-verdict">
        <Icon name={isOk ? 'check' : 'warning'} />
        <h2>
          <span role="status">
            {isStale ? 'The current health is unknown' : summarizeHealth(failing, checks.length)}
          </span>
        </h2>
      </header>
      <ul>
        {sorted.map(({ name, isOk: isFine, detail }) => (
          <li key={name}>
            <Finding isFine={isFine} isStale={isStale} />
            <div>
              <h3>{capitalize(name)}</h3>
              <p className="soft">{detail}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Finding({ isFine, isStale }: { isFine: boolean; isStale: boolean }) {
  if (isStale) return <span className="label-chip">{isFine ? 'Worked' : 'Failed'}</span>;
  return (
    <span className={`label-chip ${isFine ? 'good' : 'danger'}`}>
      <Icon name={isFine ? 'check' : 'close'} />
      {isFine ? 'Works' : 'Fails'}
    </span>
  );
}

function summarizeHealth(failing: number, all: number): string {
  if (failing === 0) return 'Everything works';
  return `${failing} of ${all} checks ${failing === 1 ? 'fails' : 'fail'}`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
