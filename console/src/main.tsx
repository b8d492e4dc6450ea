/** Entry point of the page. */

import './styles/index.css';
// Removes a one-time code from the address before another module reads it.
import './session/single-sign-on.ts';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

createRoot(document.getElementById('root')!).render(<App />);
