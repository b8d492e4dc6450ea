/** The API documentation: the endpoints from OpenAPI, and the GraphQL schema. */

import { Link, useLocation } from '../router.tsx';
import './api.css';
import { HttpReference } from './http-reference.tsx';
import { SchemaReference } from './schema-reference.tsx';

export function ApiScreen() {
  const [, part, name] = useLocation().parts;
  const isSchema = part === 'schema';
  return (
    <main className="page api">
      <header className="page-header">
        <h1>API docs</h1>
      </header>
      <nav className="tab-list" aria-label="API documentation">
        <Link to="/api" className="tab" aria-current={isSchema ? undefined : 'page'}>
          HTTP endpoints
        </Link>
        <Link to="/api/schema" className="tab" aria-current={isSchema ? 'page' : undefined}>
          GraphQL schema
        </Link>
      </nav>
      {isSchema ? <SchemaReference open={name} /> : <HttpReference open={part} />}
    </main>
  );
}
