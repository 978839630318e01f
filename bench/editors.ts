import type { Page } from 'playwright-core'
import { goTo, openBackendWorld, openSignedIn } from '../test/browser/backend-world.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const schemas = scaled(1000, 20)
const fields = scaled(300, 10)
const letters = scaled(15, 3)

/**
 * Measures the editor of a schema with 300 fields in a project with 1,000 schemas: elements, and the processor time of
 * the page, which depends less on what else the machine does.
 */
export async function measureEditors(): Promise<Figure[]> {
  await using world = await openBackendWorld({ files: makeFiles() })
  await using watched = await world.open()
  const { page } = watched
  await openSignedIn(page, '/schemas/Small')
  await page.getByRole('textbox', { name: 'Name of f0', exact: true }).waitFor()
  const small = await countElements(page)
  await goTo(page, '/scopes', 'Scopes')
  const measure = await openMeter(page)
  const opening = await measure(async () => {
    await page.evaluate("history.pushState({}, '', '/backend/ui/schemas/Large')")
    await page.getByRole('textbox', { name: 'Name of f0', exact: true }).waitFor()
    await page.evaluate(nextFrame)
  })
  const large = await countElements(page)
  await page.getByRole('textbox', { name: 'Name of f3', exact: true }).click()
  const times: number[] = []
  for (let index = 0; index < letters; index++)
    times.push(await measure(() => page.evaluate(`document.execCommand('insertText', false, 'x'); ${nextFrame}`)))
  const list = await measure(async () => {
    await page.getByRole('combobox', { name: 'Type of f1', exact: true }).click()
    await page.getByRole('option').first().waitFor()
  })
  const opened = await countElements(page)
  const what = `editor of a schema with ${fields} fields among ${schemas}`
  return [
    atMost(`elements of the ${what}`, { value: large, unit: '' }, 10_000),
    atMost('  with a list of types and schemas open', { value: opened, unit: '' }, 10_000),
    atMost('  processor time until it is shown', { value: opening / 1000, unit: 's' }, 1),
    atMost('  processor time of a letter in the name of a field', { value: median(times), unit: 'ms' }, 50),
    beside('  processor time of opening a list of types and schemas', { value: list, unit: 'ms' }),
    beside('elements of the editor of a schema with five fields', { value: small, unit: '' }),
  ]
}

const nextFrame = 'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))'

/** @returns a function that measures the milliseconds of processor time of the page's main thread */
async function openMeter(page: Page): Promise<(work: () => Promise<unknown>) => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const read = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000
  }
  return async (work) => {
    const begin = await read()
    await work()
    return (await read()) - begin
  }
}

function makeFiles(): Readonly<Record<string, string>> {
  const write = (name: string, count: number) => {
    const properties = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`f${index}`, { type: 'string', description: `Field ${index}` }]),
    )
    return `  ${name}: ${JSON.stringify({ type: 'object', properties })}\n`
  }
  const many = Array.from({ length: schemas }, (_, index) => write(`Thing${index}`, 3))
  return { 'waypost.yml': `schema:\n${write('Large', fields)}${write('Small', 5)}${many.join('')}routes: {}\n` }
}

const countElements = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length")
