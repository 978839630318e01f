// What /docs consists of beside its viewer. Addresses are relative, so that the page works below any prefix.

/** The page: a place for the viewer, and a form to sign in where the reference is private. */
export const pageHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/page.css">
<script src="docs/page.js" defer></script>
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

/** Where a window that was opened to authorize ends. The one that opened it reads the address and closes it. */
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

export const pageCss = `body { margin: 0; font-family: system-ui, sans-serif; }
#sign-in, #signed-in, noscript p { box-sizing: border-box; width: min(24rem, 100% - 3rem); margin: 18vh auto 0; line-height: 1.5; }
#sign-in[hidden] { display: none; }
#sign-in h1, #signed-in h1 { margin: 0; font-size: 1.5rem; }
#sign-in label { display: block; margin-top: 1.5rem; font-weight: 600; }
#sign-in input, #sign-in button { box-sizing: border-box; width: 100%; padding: .6rem .75rem; font: inherit; border-radius: .4rem; }
#sign-in input { margin-top: .3rem; color: inherit; background: Field; border: 1px solid GrayText; }
#sign-in button { min-height: 2.75rem; margin-top: .75rem; color: CanvasText; background: Canvas; border: 1px solid GrayText; cursor: pointer; }
#sign-in button.strong { color: Canvas; background: CanvasText; }
#sign-in button[hidden] { display: none; }
#problem { min-height: 1.5em; margin: .5rem 0 0; }

/* The version of OpenAPI is nothing to those who read. */
#reference .introduction-section .badge:not(.extension) { display: none; }
/* More statuses than fit beside the buttons go above them. */
#reference .response-card .scalar-card-header { flex-wrap: wrap; }
#reference .response-card .scalar-card-header-title { flex: 1 0 auto; max-width: 100%; }
#reference .response-card .scalar-card-header-title + * { margin-left: auto; }
/* Refresh, beside Authorize: there is no refresh token for it. */
button.p-0.px-2.py-0\\.5:not(.mr-1) + button.p-0.px-2.py-0\\.5:not(.mr-1) { display: none; }
/* On a phone it would lie over the address. */
@media (max-width: 767px) { .scalar-sidebar-toggle { display: none; } }
`
