import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
import { actionFile } from '../support/project-server.ts'
import type { WatchedPage } from '../support/browser.ts'
import { origin } from './backend-world.ts'
import { longTest } from '../support/forms.ts'

/** Routes whose scripts attack the pages on their origin. */
export const attackFiles = {
  'waypost.yml': `
routes:
  /plain: { methods: { GET: { public: true, html: trusted, action: src/plain.ts } } }
  /isolated: { methods: { GET: { public: true, html: trusted, action: src/isolated.ts } } }
  /unsafe: { methods: { GET: { public: true, html: trusted, action: src/unsafe.ts } } }
  /untrusted: { methods: { GET: { public: true, action: src/plain.ts } } }
  /worker.js: { methods: { GET: { public: true, html: trusted, action: src/worker.ts } } }
`,
  'src/plain.ts': respond('text/html', '<title>plain</title><script>window.ran = origin</script>'),
  'src/isolated.ts': respond('text/html', '<title>isolated</title>', {
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
  }),
  'src/unsafe.ts': respond('text/html', '<title>unsafe</title>', { 'cross-origin-opener-policy': 'unsafe-none' }),
  'src/worker.ts': respond('text/javascript', 'addEventListener("fetch", () => {})', { 'service-worker-allowed': '/' }),
}

function respond(type: string, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = JSON.stringify({ 'content-type': type, ...headers })
  return actionFile(`return context.respond(200, ${JSON.stringify(body)}, ${all})`)
}

/** Pages of Waypost that share their origin with user routes. */
interface AttackedPages {
  readonly name: string
  /** The path below which the pages are. */
  readonly root: string
  readonly clientId: string
  /** Matches the title of the first page. */
  readonly title: RegExp
  /** Matches the title of any of them, also while it is loaded. */
  readonly anyTitle: RegExp
  /** Why these tests do not run. */
  readonly skip?: string | false
  /** Opens a server with `attackFiles`. */
  openWorld(): Promise<AsyncDisposable & { open(): Promise<WatchedPage> }>
  /** Opens the first page as a user who signs in. */
  openSignedIn(page: Page): Promise<void>
}

/** Declares the tests of what a user route can do to pages on its origin. */
export function testHazards(pages: AttackedPages): void {
  const { root, anyTitle, skip = false } = pages
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: pages.clientId,
    redirect_uri: `${origin}${root}/signed-in`,
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', // RFC 7636, appendix B: the attacker knows the verifier
    code_challenge_method: 'S256',
  })
  const authorizeUrl = `${origin}/authorization/authorize?${query.toString()}`

  describe(`a page of a user route on the origin of ${pages.name}`, { skip, timeout: 600_000 }, () => {
    let world: Awaited<ReturnType<AttackedPages['openWorld']>>
    let victim: WatchedPage
    before(async () => {
      world = await pages.openWorld()
      victim = await world.open()
      await pages.openSignedIn(victim.page)
    })
    after(() => world[Symbol.asyncDispose]())

    /** Opens a page of a user route in the browser of a user who is signed in. Closes it, and all that it opened. */
    async function openAttack(path: string) {
      const context = victim.page.context()
      const page = await context.newPage()
      await page.goto(origin + path)
      return {
        page,
        async [Symbol.asyncDispose]() {
          for (const one of context.pages()) if (one !== victim.page) await one.close()
        },
      }
    }

    /** Opens a window and tries to read it once its title matches. */
    async function readWindow(page: Page, url: string, title: RegExp): Promise<string> {
      const opening = page.context().waitForEvent('page')
      await page.evaluate(`void (window.opened = open(${JSON.stringify(url)}))`)
      const opened = await opening
      await until('the window is loaded', async () => title.test(await opened.title()))
      return page.evaluate<string>(`(() => {
      try {
        return opened.closed ? 'severed' : 'read ' + opened.location.href + ' ' + opened.document.title
      } catch {
        return 'severed'
      }
    })()`)
    }

    test('can read a window of another user route', async () => {
      await using attack = await openAttack('/plain')
      assert.match(await readWindow(attack.page, `${origin}/plain`, /plain/), /^read .*plain$/)
    })

    for (const path of ['/plain', '/isolated', '/unsafe']) {
      // In CI, a page without any protection: usual ones can do no more, and one that isolates itself can do less.
      const declare = path === '/unsafe' ? test : longTest
      declare(`cannot read a window of the pages: ${path}`, async () => {
        await using attack = await openAttack(path)
        const staying = `${origin}${root}/signed-in?state=window.x` // does not leave for the authorization endpoint
        assert.equal(await readWindow(attack.page, staying, anyTitle), 'severed')
        assert.equal(await readWindow(attack.page, `${origin}${root}/`, pages.title), 'severed')
        assert.equal(await readWindow(attack.page, authorizeUrl, anyTitle), 'severed')
        assert.equal(await readWindow(attack.page, `${authorizeUrl}&prompt=login`, /Sign in/), 'severed')
      })

      declare(`cannot get a code by a script or a frame: ${path}`, async () => {
        await using attack = await openAttack(path)
        const found = await attack.page.evaluate<string[]>(`(async (url, page) => {
        const answers = []
        for (const mode of ['cors', 'same-origin', 'no-cors']) {
          const answer = await fetch(url, { mode, credentials: 'include' }).catch((error) => error)
          answers.push(answer instanceof Error ? answer.name : answer.status + ' ' + answer.url)
        }
        for (const address of [url, page]) {
          const frame = document.createElement('iframe')
          frame.src = address
          const loaded = new Promise((resolve) => frame.addEventListener('load', resolve))
          document.body.append(frame)
          await loaded
          try {
            answers.push(frame.contentWindow.location.href)
          } catch {
            answers.push('blocked')
          }
        }
        return answers
      })(${JSON.stringify(authorizeUrl)}, ${JSON.stringify(`${root}/`)})`)
        assert.deepEqual(
          found.filter((one) => /code=/.test(one) || one.replace(authorizeUrl, '').includes(root)),
          [],
        )
        assert.ok(found.some((one) => one.startsWith('403 ')))
        assert.deepEqual(found.slice(-2), ['blocked', 'blocked'])
      })
    }

    test('hears no code when a window signs in', async () => {
      await using attack = await openAttack('/plain')
      const channel = `waypost-sign-in ${pages.clientId}`
      await attack.page.evaluate(`void (() => {
        window.heard = []
        const hear = ({ data }) => window.heard.push(JSON.stringify(data))
        new BroadcastChannel(${JSON.stringify(channel)}).addEventListener('message', hear)
        addEventListener('message', hear)
      })()`)
      const url = `${authorizeUrl}&state=window.x&prompt=none`
      const opening = attack.page.context().waitForEvent('page')
      await attack.page.evaluate(`void open(${JSON.stringify(url)})`)
      const opened = await opening
      await opened.getByText('You are signed in. You can close this window.').waitFor()
      assert.deepEqual(await attack.page.evaluate('window.heard'), [])
    })

    test('cannot read or send the forms of the login pages by a script', async () => {
      await using attack = await openAttack('/plain')
      const answers = await attack.page.evaluate<string[]>(`(async (url) => {
        const answers = []
        for (const [name, method] of [['authorize', 'GET'], ['consent', 'POST'], ['login', 'POST'], ['logout', 'POST']]) {
          const answer = await fetch(url.replace('authorize?', name + '?'), { method, body: method === 'GET' ? undefined : new URLSearchParams() })
          const text = await answer.text()
          answers.push(answer.status + ' ' + text.includes('csrf'))
        }
        return answers
      })(${JSON.stringify(`${authorizeUrl}&prompt=login`)})`)
      assert.deepEqual(answers, ['403 false', '403 false', '403 false', '403 false'])
    })

    test('cannot install a service worker', async () => {
      await using attack = await openAttack('/plain')
      const result = await attack.page.evaluate<string>(
        `navigator.serviceWorker.register('/worker.js', { scope: '/' }).then(() => 'installed', (error) => error.name)`,
      )
      assert.notEqual(result, 'installed')
    })

    test('finds no token in what the browser stores', async () => {
      await using attack = await openAttack('/plain')
      const stored = await attack.page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
      )
      assert.doesNotMatch(stored, /eyJ|session|verifier/)
    })

    test('runs without the origin if its HTML is not trusted', async () => {
      await using attack = await openAttack('/untrusted')
      assert.equal(await attack.page.evaluate('origin'), 'null')
      assert.equal(await attack.page.evaluate('window.ran'), undefined)
    })
  })
}
