import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { docsRedirectPath } from '../../auth/index.ts'

/**
 * Mounts the page at which the window that authorizes the API reference ends. Its address contains the code: the page
 * that opened the window reads it and closes the window.
 */
export function mountSignedIn(app: FastifyInstance): void {
  app.get(docsRedirectPath, (_request, reply) => {
    const nonce = randomBytes(16).toString('base64')
    reply.header(
      'content-security-policy',
      `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; frame-ancestors 'none'`,
    )
    // The same policy as on the pages before it. Otherwise the window would lose the connection to the page that opened
    // it.
    reply.header('cross-origin-opener-policy', 'unsafe-none').header('cache-control', 'no-store')
    return reply.type('text/html; charset=utf-8').send(makeHtml(nonce))
  })
}

function makeHtml(nonce: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Back to the API reference</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">
main { width: min(24rem, 100% - 3rem); margin: 18vh auto 0; font: 1rem/1.5 system-ui, sans-serif }
h1 { margin: 0; font-size: 1.5rem }
</style>
</head>
<body>
<main>
<h1>Back to the API reference</h1>
<p>This window closes automatically. If it does not, close it and authorize again.</p>
</main>
</body>
</html>
`
}
