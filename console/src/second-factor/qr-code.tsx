/** Draws a QR code. It is dark on white in both themes, because many apps cannot read inverted codes. */

import { useMemo } from 'react';
import { encode } from 'uqr';

/** The width of the white edge, in modules, that the standard requires. */
const edge = 4;

export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { path, size } = useMemo(() => draw(text), [text]);
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}

function draw(text: string) {
  const { data, size } = encode(text, { border: edge });
  const modules = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')));
  return { path: modules.join(''), size };
}
