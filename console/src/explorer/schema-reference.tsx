/** The page of the GraphQL schema: queries, mutations, subscriptions and types, with a search. */

import { useMemo } from 'react';
import { useGraph } from '../graph/use-graph.ts';
import { Link, setQuery, useLocation } from '../router.tsx';
import { SearchField } from '../ui/fields.tsx';
import { QueryResult, Empty } from '../ui/states.tsx';
import { InlineMarkdown } from '../ui/text.tsx';
import {
  searchSchema,
  splitType,
  schemaDocument,
  createSchemaView,
  type SchemaResponse,
  type SchemaField,
  type SchemaInput,
  type SchemaType,
  type TypeRef,
} from './schema-model.ts';

/** `open` is the name of the type in the address. */
export function SchemaReference({ open }: { open: string | undefined }) {
  const schema = useGraph<SchemaResponse>(['schema'], schemaDocument, {}, { staleTime: Infinity });
  return (
    <QueryResult query={schema}>
      {(answer) =>
        open === undefined ? <Overview answer={answer} /> : <TypeDetails answer={answer} name={open} />
      }
    </QueryResult>
  );
}

function Overview({ answer }: { answer: SchemaResponse }) {
  const text = useLocation().query.get('text') ?? '';
  const view = useMemo(() => createSchemaView(answer), [answer]);
  const { operations, types } = useMemo(() => searchSchema(view, text), [view, text]);
  const isEmpty = types.length === 0 && operations.every(({ fields }) => fields.length === 0);
  return (
    <>
      <div className="toolbar">
        <SearchField label="Filter the schema" value={text} onChange={(next) => setQuery({ text: next })} />
      </div>
      {isEmpty && (
        <Empty icon="search" title={`No match for “${text}” in the schema`}>
          <p>The search covers the names of fields, arguments, types and values.</p>
        </Empty>
      )}
      {operations
        .filter(({ fields }) => fields.length > 0)
        .map(({ label, fields }) => (
          <section key={label} className="card" aria-labelledby={`schema-${label}`}>
            <h2 id={`schema-${label}`}>{label}</h2>
            <Fields of={fields} />
          </section>
        ))}
      {types.length > 0 && (
        <section className="card" aria-labelledby="schema-types">
          <h2 id="schema-types">Types</h2>
          <ul className="schema-types">
            {types.map(({ name }) => (
              <li key={name}>
                <Link to={`/api/schema/${name}`}>
                  <code>{name}</code>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const kinds: Readonly<Record<string, string>> = {
  OBJECT: 'Type',
  INTERFACE: 'Interface',
  INPUT_OBJECT: 'Input',
  ENUM: 'Enumeration',
  SCALAR: 'Scalar',
  UNION: 'Union',
};

function TypeDetails({ answer, name }: { answer: SchemaResponse; name: string }) {
  const type = answer.__schema.types.find((one) => one.name === name);
  return (
    <>
      <p>
        <Link to="/api/schema">Whole schema</Link>
      </p>
      {type ? (
        <section className="card" aria-labelledby="schema-type">
          <header className="card-header">
            <h2 id="schema-type">
              <code>{name}</code>
            </h2>
            <span className="label-chip">{kinds[type.kind] ?? type.kind}</span>
          </header>
          {type.description && (
            <p>
              <InlineMarkdown>{type.description}</InlineMarkdown>
            </p>
          )}
          <TypeMembers of={type} />
        </section>
      ) : (
        <Empty icon="search" title={`There is no type “${name}”`} />
      )}
    </>
  );
}

function TypeMembers({ of: { fields, inputFields, enumValues } }: { of: SchemaType }) {
  if (fields) return <Fields of={fields} />;
  if (inputFields) return <Inputs of={inputFields} />;
  return (
    <ul className="schema-list">
      {enumValues?.map(({ name, description }) => (
        <li key={name}>
          <code>{name}</code>
          <Description of={description} />
        </li>
      ))}
    </ul>
  );
}

function Fields({ of }: { of: readonly SchemaField[] }) {
  return (
    <ul className="schema-list">
      {of.map(({ name, description, args, type }) => (
        <li key={name}>
          <code className="schema-signature">
            <b>{name}</b>
            {args.length > 0 && (
              <>
                (
                {args.map((arg, at) => (
                  <span key={arg.name}>
                    {at > 0 && ', '}
                    {arg.name}: <TypeText of={arg.type} />
                    {arg.defaultValue !== null && ` = ${arg.defaultValue}`}
                  </span>
                ))}
                )
              </>
            )}
            : <TypeText of={type} />
          </code>
          <Description of={description} />
          {args.some((arg) => arg.description) && (
            <details className="api-details">
              <summary>Arguments of {name}</summary>
              <Inputs of={args} />
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

function Inputs({ of }: { of: readonly SchemaInput[] }) {
  return (
    <ul className="schema-list">
      {of.map(({ name, description, type, defaultValue }) => (
        <li key={name}>
          <code className="schema-signature">
            <b>{name}</b>: <TypeText of={type} />
            {defaultValue !== null && ` = ${defaultValue}`}
          </code>
          <Description of={description} />
        </li>
      ))}
    </ul>
  );
}

function Description({ of }: { of: string | null }) {
  if (!of) return null;
  return (
    <p className="soft">
      <InlineMarkdown>{of}</InlineMarkdown>
    </p>
  );
}

function TypeText({ of }: { of: TypeRef }) {
  const { before, name, after } = splitType(of);
  return (
    <>
      {before}
      <Link to={`/api/schema/${name}`}>{name}</Link>
      {after}
    </>
  );
}
