import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import type { Diagnostic } from '../../src/kit/index.ts'
import { openTypeChecker } from '../../src/project/type-checker.ts'
import { checkout } from '../support/cli.ts'
import { writeFiles } from '../support/project-server.ts'
import { until } from '../support/until.ts'
import { useTemporaryFolder } from '../testing/temporary-folder.ts'

let temporary: Awaited<ReturnType<typeof useTemporaryFolder>>
before(async () => {
  temporary = await useTemporaryFolder()
})
after(() => temporary.remove())

const tsconfig = '{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] }, "files": ["a.ts"] }'

function open(folder: string) {
  const reports: (readonly Diagnostic[])[] = []
  const warnings: string[] = []
  const console = {
    checkedTypes: (found: readonly Diagnostic[]) => void reports.push(found),
    warned: (message: string) => void warnings.push(message),
  }
  return { reports, warnings, checker: openTypeChecker(folder, { console, settleMs: 20 }) }
}

test('type errors are warnings with their place; a later call cancels the check before it', async () => {
  const folder = path.join(temporary.folder, 'checked')
  await writeFiles(folder, {
    'tsconfig.json': tsconfig,
    'a.ts': `export const one = 1
export const two: string = 2
type Request = { params: { id: number } | {} }
export const step = (request: Request) => request.params.id
`,
  })
  await mkdir(path.join(folder, 'node_modules'))
  for (const name of ['typescript', '@typescript']) {
    await symlink(path.join(checkout, 'node_modules', name), path.join(folder, 'node_modules', name))
  }
  const { reports, warnings, checker } = open(folder)
  for (let i = 0; i < 5; i++) checker.schedule()
  await until('the types are checked', () => reports.length > 0)
  const [found, plain] = reports[0]!
  assert.deepEqual([found!.severity, found!.file, found!.range.start.line], ['warning', 'a.ts', 2])
  assert.match(found!.message, /^Type 'number' is not assignable to type 'string'/)
  assert.equal(plain!.message, "Property 'id' does not exist on type '{}'.")
  assert.match(
    plain!.hint!,
    /^Request without a method contains only what all methods have in common\. .*Request<'METHOD \/path'>/,
  )
  await writeFiles(folder, { 'a.ts': 'export const one = 1\n' })
  checker.schedule()
  checker.cancel()
  checker.schedule()
  await until('the types are checked again', () => reports.length > 1)
  await checker.close()
  checker.schedule()
  assert.deepEqual([reports.length, reports[1], warnings], [2, [], []])
})

test('a project without TypeScript is told so once, and one without tsconfig.json is not checked', async () => {
  const folder = path.join(temporary.folder, 'without')
  await writeFiles(folder, { 'tsconfig.json': tsconfig, 'a.ts': '' })
  const { warnings, checker } = open(folder)
  checker.schedule()
  await until('it is told', () => warnings.length > 0)
  checker.schedule()
  await checker.close()
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!, /^Types are not checked, .*npm install --save-dev typescript$/)
  await writeFiles(path.join(temporary.folder, 'plain'), { 'a.js': '' })
  const plain = open(path.join(temporary.folder, 'plain'))
  plain.checker.schedule()
  await plain.checker.close()
  assert.deepEqual([plain.warnings, plain.reports], [[], []])
})
