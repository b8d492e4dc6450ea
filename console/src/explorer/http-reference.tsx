/** The page of endpoints, from the server's OpenAPI document. */

import { EspalierError } from '@espalier/client';
import { useQuery } from '@tanstack/react-query';
import { apiRoot } from '../console-address.ts';
import { Link } from '../router.tsx';
import { InlineMarkdown } from '../ui/text.tsx';
import { QueryResult, Empty } from '../ui/states.tsx';
import {
  listEndpoints,
  listFields,
  type OpenApi,
  formatCurl,
  type Endpoint,
  type Field,
} from './openapi-model.ts';
import { useEffect, useRef } from 'react';
import { client } from '../session/client.ts';
import { CopyButton } from '../ui/copy.tsx';

async function readOpenApi({ signal }: { signal: AbortSignal }): Promise<OpenApi> {
  try {
    const answer = await fetch(`${apiRoot}openapi.json`, { signal });
    if (answer.ok) return (await answer.json()) as OpenApi;
  } catch (cause) {
    throw new EspalierError('UNREACHABLE', 'The server cannot be reached.', { cause });
  }
  throw new EspalierError('NOT_ESPALIER', 'The server has no description of its endpoints at /openapi.json.');
}

/** `open` is the id of the endpoint in the address. */
export function HttpReference({ open }: { open: string | undefined }) {
  const document = useQuery({ queryKey: ['openapi'], queryFn: readOpenApi, staleTime: Infinity });
  return (
    <QueryResult query={document}>
      {(api) => {
        const endpoints = listEndpoints(api);
        return (
          <div className="api-columns">
            <nav className="api-contents" aria-label="Endpoints">
              {endpoints.map(({ id, method, path }) => (
                <Link key={id} to={`/api/${id}`} aria-current={id === open ? 'location' : undefined}>
                  <span className="api-method">{method}</span> {path}
                </Link>
              ))}
              <a className="api-document" href={`${apiRoot}openapi.json`} target="_blank" rel="noreferrer">
                OpenAPI document
              </a>
            </nav>
            <div className="api-list">
              {open !== undefined && !endpoints.some(({ id }) => id === open) && (
                <Empty icon="search" title={`There is no endpoint “${open}”`} />
              )}
              {endpoints.map((endpoint) => (
                <EndpointCard key={endpoint.id} endpoint={endpoint} isOpen={endpoint.id === open} />
              ))}
              <section className="card" aria-labelledby="api-bodies">
                <h2 id="api-bodies">Bodies</h2>
                {Object.entries(api.components.schemas).map(([name, schema]) => (
                  <details key={name} className="api-details">
                    <summary>
                      <code>{name}</code>{' '}
                      <span className="soft">
                        <InlineMarkdown>{schema.description ?? ''}</InlineMarkdown>
                      </span>
                    </summary>
                    <FieldTable caption={name} fields={listFields(schema)} />
                  </details>
                ))}
              </section>
            </div>
          </div>
        );
      }}
    </QueryResult>
  );
}

function EndpointCard({ endpoint, isOpen }: { endpoint: Endpoint; isOpen: boolean }) {
  const { id, method, hasHead, path, summary, description, access, parameters, body } = endpoint;
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isOpen) card.current?.scrollIntoView({ block: 'start' });
  }, [isOpen]);
  const curl = formatCurl(endpoint, client.url);
  return (
    <section ref={card} className="card api-endpoint" aria-label={`${method} ${path}`}>
      <header className="card-header">
        <span className={`label-chip ${method === 'GET' ? 'info' : 'good'}`}>{method}</span>
        {hasHead && <span className="label-chip">HEAD</span>}
        <code className="api-path">{path}</code>
        <h2>
          <Link to={`/api/${id}`}>{summary}</Link>
        </h2>
      </header>
      <p>
        <InlineMarkdown>{description}</InlineMarkdown>
      </p>
      <p className="soft">Access: {access}</p>
      {parameters.length > 0 && (
        <FieldTable
          caption="Parameters"
          fields={parameters.map((one) => ({ ...one, type: `${one.type}, in the ${one.in}` }))}
        />
      )}
      {body && (
        <FieldTable
          caption={`Body: ${body.mediaType}${body.isRequired ? '' : ' (optional)'}`}
          fields={body.fields}
        />
      )}
      <Responses of={endpoint} />
      <div className="api-code">
        <pre tabIndex={0} aria-label={`${summary} with curl`}>
          {curl}
        </pre>
        <CopyButton label={`Copy curl of ${method} ${path}`} text={curl} />
      </div>
    </section>
  );
}

/** Not a `DataTable`, because the page has about fifty of these tables and each grid would be a stop for the Tab key. */
function FieldTable({ caption, fields }: { caption: string; fields: readonly Field[] }) {
  return (
    <table className="table api-table">
      <caption>{caption}</caption>
      <thead className="visually-hidden">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, type, isRequired, description }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td className="soft">
              {type}
              {isRequired && ', required'}
            </td>
            <td>
              <InlineMarkdown>{description}</InlineMarkdown>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Responses({ of: { responses } }: { of: Endpoint }) {
  return (
    <table className="table api-table">
      <caption>Responses</caption>
      <thead className="visually-hidden">
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Body</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {responses.map(({ status, meanings, body, headers }) => (
          <tr key={status}>
            <th scope="row">
              <span
                className={`label-chip ${status < '300' ? 'good' : status < '500' ? 'warning' : 'danger'}`}
              >
                {status}
              </span>
            </th>
            <td className="soft">{body === null ? 'no body' : body}</td>
            <td>
              {meanings.map((meaning) => (
                <p key={meaning}>
                  <InlineMarkdown>{meaning}</InlineMarkdown>
                </p>
              ))}
              {headers.map(({ name, description }) => (
                <p key={name} className="soft">
                  Header <code>{name}</code>: <InlineMarkdown>{description}</InlineMarkdown>
                </p>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
