import type { Page } from 'playwright-core'
import { openBrowser, openPage } from '../support/browser.ts'
import { openDraft, type DraftWorld } from '../support/draft-world.ts'
import { readTemplate } from '../support/template.ts'

export interface EditWorld extends AsyncDisposable {
  readonly draft: DraftWorld
  readonly page: Page
  readonly complaints: readonly string[]
  /** Opens a page of the backend. */
  open(path: string): Promise<void>
}

/** A to-do project in git, served by `dev`, and a browser that is signed in. */
export async function openEditing(files: Readonly<Record<string, string>> = {}): Promise<EditWorld> {
  await using stack = new AsyncDisposableStack()
  const draft = stack.use(
    await openDraft({ ...readTemplate('todo'), '.gitignore': '.waypost\nnode_modules\n', ...files }),
  )
  draft.git('init', '-q')
  draft.git('add', '.')
  draft.git('commit', '-qm', 'Start')
  const browser = await openBrowser()
  stack.defer(() => browser.close())
  const link = new URL((await draft.dev.openBackend())!)
  const { page, complaints } = stack.use(await openPage(browser, link.origin))
  await page.goto(link.href)
  await page.locator('#content h1').waitFor()
  const kept = stack.move()
  return {
    draft,
    page,
    complaints,
    async open(path) {
      await page.goto(`${link.origin}/backend/ui${path}`)
      await page.locator('#content h1').waitFor()
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
