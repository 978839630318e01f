import type { Page } from 'playwright-core'
import { openBrowser, openPage } from '../support/browser.ts'
import { openDraft, type DraftWorld } from '../support/draft-world.ts'
import { readTemplate } from '../support/template.ts'

export const savedText = /^Saved \d\d:\d\d/

/** Shows the whole page: axe cannot decide about what is scrolled out, or covered by the bar that stays in view. */
export const showAll = `document.querySelector('.shell').style.height = 'auto'
  document.querySelector('#content').style.overflow = 'visible'
  for (const bar of document.querySelectorAll('.save-bar')) bar.style.position = 'static'`

export interface EditWorld extends AsyncDisposable {
  readonly draft: DraftWorld
  readonly page: Page
  /** What the browser complained about since `start`. */
  readonly complaints: readonly string[]
  /** Puts all files back to those of the template, with others. They are committed and served. */
  start(files?: Readonly<Record<string, string>>): Promise<void>
  /** Opens a page of the backend. */
  open(path: string): Promise<void>
}

/** A to-do project in git, served by `dev`, and a browser that is signed in. Tests of a file share it. */
export async function openEditing(): Promise<EditWorld> {
  await using stack = new AsyncDisposableStack()
  const draft = stack.use(await openDraft({ ...readTemplate('todo'), '.gitignore': '.waypost\nnode_modules\n' }))
  draft.git('init', '-q')
  draft.git('add', '.')
  draft.git('commit', '-qm', 'Start')
  draft.git('tag', 'start')
  const browser = await openBrowser()
  stack.defer(() => browser.close())
  const link = new URL((await draft.dev.openBackend())!)
  const { page, complaints } = stack.use(await openPage(browser, link.origin))
  page.on('dialog', (dialog) => void dialog.accept()) // leaving a page with unsaved changes
  await page.goto(link.href)
  await page.locator('#content h1').waitFor()
  const kept = stack.move()
  let seen = 0
  return {
    draft,
    page,
    get complaints() {
      return complaints.slice(seen)
    },
    async start(files = {}) {
      await page.goto('about:blank')
      await page.unrouteAll()
      await page.setViewportSize({ width: 1280, height: 720 })
      await page.emulateMedia({ colorScheme: null })
      draft.git('reset', '-q', '--hard', 'start')
      draft.git('clean', '-qfd')
      for (const [file, text] of Object.entries(files)) await draft.write(file, text)
      draft.git('add', '.')
      draft.git('commit', '-q', '--allow-empty', '-m', 'Files of the test')
      await draft.dev.reload()
      seen = complaints.length
    },
    async open(path) {
      await page.goto(`${link.origin}/backend/ui${path}`)
      await page.locator('#content h1').waitFor()
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
