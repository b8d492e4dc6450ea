/** The settings of this node and their sources. They are read-only, because a node reads them at its start. */

import { useGraph } from '../graph/use-graph.ts';
import { setQuery, useLocation } from '../router.tsx';
import { Button } from '../ui/button.tsx';
import { SearchField, Switch } from '../ui/fields.tsx';
import { QueryResult, Empty, Loading } from '../ui/states.tsx';
import { isDifferent, groupSettings, formatValue, type Setting } from './setting-list.ts';
import { InlineMarkdown } from '../ui/text.tsx';
import './settings.css';

const document = /* GraphQL */ `
  query Settings {
    server {
      settings {
        name
        subject
        description
        accepts
        value
        default
        source
        givenBy
        isSecret
      }
    }
  }
`;

const sources = {
  DEFAULT: { label: 'Default', tone: '' },
  ENVIRONMENT: { label: 'Environment', tone: 'info' },
  FILE: { label: 'File', tone: 'info' },
  COMMAND_LINE: { label: 'Command line', tone: 'info' },
} as const;

export function SettingsScreen() {
  const { query } = useLocation();
  const text = query.get('text') ?? '';
  const isOnlyDifferent = query.get('only') === 'different';
  const answer = useGraph<{ server: { settings: readonly Setting[] } }>(['server', 'settings'], document);
  return (
    <main className="page">
      <header className="page-header">
        <h1>Settings</h1>
      </header>
      <p className="page-about settings-about">
        The settings that this node has used since it started. To change a setting, set its environment
        variable or its flag (<code>ESPALIER_PORT=9000</code> or <code>--port 9000</code>), and restart the
        node.
      </p>
      <div className="settings-tools">
        <SearchField
          label="Filter settings"
          value={text}
          onChange={(next) => setQuery({ text: next || null })}
        />
        <Switch
          isSelected={isOnlyDifferent}
          onChange={(isOn) => setQuery({ only: isOn ? 'different' : null })}
        >
          Only settings that differ from the default
        </Switch>
      </div>
      <QueryResult query={answer} loading={<Loading lines={10} />}>
        {({ server: { settings } }) => (
          <Subjects settings={settings} text={text} isOnlyDifferent={isOnlyDifferent} />
        )}
      </QueryResult>
    </main>
  );
}

interface SubjectsProps {
  readonly settings: readonly Setting[];
  readonly text: string;
  readonly isOnlyDifferent: boolean;
}

function Subjects({ settings, text, isOnlyDifferent }: SubjectsProps) {
  const subjects = groupSettings(settings, { text, isOnlyDifferent });
  const count = subjects.reduce((sum, { settings: some }) => sum + some.length, 0);
  const countText = `${count} of ${settings.length} settings`;
  return (
    <>
      <p className="visually-hidden" role="status">
        {countText}
      </p>
      {count === 0 && (
        <Empty icon="settings" title="No matching settings">
          {isOnlyDifferent && text === '' && <p>All settings have their default values.</p>}
          <Button onPress={() => setQuery({ text: null, only: null })}>Show all settings</Button>
        </Empty>
      )}
      {subjects.map(({ name, settings: ofSubject }) => (
        <section key={name} className="settings-subject" aria-label={name}>
          <h2>{name}</h2>
          <ul className="settings-list">
            {ofSubject.map((setting) => (
              <SettingItem key={setting.name} setting={setting} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function SettingItem({ setting }: { setting: Setting }) {
  const { name, description, accepts, source, givenBy, default: usual, isSecret } = setting;
  const { text, isValue } = formatValue(setting);
  const { label, tone } = sources[source];
  const isOther = isDifferent(setting);
  return (
    <li className={isOther ? 'settings-item different' : 'settings-item'}>
      <div>
        <h3 className="code">{name}</h3>
        <p className="soft">
          <InlineMarkdown>{description}</InlineMarkdown>
        </p>
        <p className="settings-accepts">
          Takes <InlineMarkdown>{accepts}</InlineMarkdown>
        </p>
      </div>
      <div className="settings-value">
        <p>{isValue ? <code>{text}</code> : <em className="soft">{text}</em>}</p>
        {isOther && !isSecret && (
          <p className="settings-default">Default: {usual ? <code>{usual}</code> : 'not set'}</p>
        )}
      </div>
      <p className="settings-source">
        <span className={`label-chip ${tone}`}>{label}</span>
        {givenBy !== null && givenBy !== name && <code>{givenBy}</code>}
      </p>
    </li>
  );
}
