// The HTML of /docs. URLs are relative, so that the page works below any prefix.
import { docsClientId, docsRedirectPath } from '../../auth/index.ts'

/** The page: a container for the viewer, and a form to sign in if the reference is private. */
export const pageHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/page.css">
<script src="docs/page.js" data-client-id="${docsClientId}" data-redirect-path="${docsRedirectPath.slice(1)}" defer></script>
</head>
<body>
<main id="reference"></main>
<form id="sign-in" aria-labelledby="title" hidden>
<h1 id="title">API reference</h1>
<p>This reference is private. Sign in, or enter an access token of this API.</p>
<p id="problem" role="alert"></p>
<button id="authorize" type="button" class="strong">Sign in</button>
<label for="token">Access token</label>
<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required>
<button>Show reference</button>
</form>
<noscript><p>This page requires JavaScript. The OpenAPI document is <a href="openapi.json">openapi.json</a>.</p></noscript>
</body>
</html>
`

/** The last page of the authorization window. The page that opened the window reads its address and closes it. */
export const signedInHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Back to the API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
</head>
<body>
<main id="signed-in">
<h1>Back to the API reference</h1>
<p>This window closes automatically. If it does not, close it and authorize again.</p>
</main>
</body>
</html>
`
