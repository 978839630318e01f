import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { buildRelease, openBuilder } from '../../src/build/index.ts'
import { importArtifact, registerArtifacts, resolveStack, type BuiltRelease } from '../../src/release/index.ts'
import { actionReturning, defineActions, makeProject } from './project.ts'

const options = { name: 'sample', version: '1.0.0' }
const readers = `import { readFile } from 'node:fs/promises'\n`

/** Returns the result of each route's action. The project may have been deleted. */
async function run({ manifest, artifacts }: BuiltRelease): Promise<unknown[]> {
  registerArtifacts(artifacts)
  return Promise.all(
    manifest.routes.map(async ({ methods: [method] }) => {
      const { artifact } = method!.action as { artifact: string }
      const { default: Action } = (await importArtifact(artifact)) as { default: new () => { handle(): unknown } }
      return new Action().handle()
    }),
  )
}

test('a file that code names by new URL is carried, byte for byte, and keeps its name', async () => {
  const bytes = randomBytes(3_000_000)
  const release = await (async () => {
    await using project = await makeProject({
      'src/report/get.ts': actionReturning(
        '[url, await readFile(url), await readFile(template, "utf8")]',
        `${readers}import { template } from '../mail/template.ts'\nconst url = new URL("./The report.pdf", import.meta.url)`,
      ),
      'src/mail/template.ts': `export const template = new URL(\n  '../../texts/hallo%20w\u00f6rld.html',\n  import.meta.url,\n)\n`,
      'texts/hallo w\u00f6rld.html': '<p>\u00fc',
    })
    await writeFile(path.join(project.root, 'src/report/The report.pdf'), bytes)
    const built = await buildRelease({ ...options, root: project.root, definition: defineActions('src/report/get.ts') })
    assert.deepEqual(built.diagnostics, [])
    assert.deepEqual([...built.assets].toSorted(), ['src/report/The report.pdf', 'texts/hallo w\u00f6rld.html'])
    const { artifacts } = built.release!.manifest
    assert.deepEqual(
      built.release!.artifacts.map(({ hash, content }) => [hash, Buffer.byteLength(content)]),
      Object.entries(artifacts),
    )
    return built.release!
  })()
  const [[url, read, text]] = (await run(release)) as [[URL, Buffer, string]]
  assert.deepEqual([read.equals(bytes), text], [true, '<p>\u00fc'])
  assert.equal(path.basename(url.pathname), 'The_report.pdf')
  assert.equal((await stat(new URL('..', url))).mode & 0o077, 0, 'nobody else may look there')
})

test('only code is changed, and stacks name its lines', async () => {
  await using project = await makeProject({
    'src/a.ts': `${readers}// new URL('./gone.txt', import.meta.url)
const text = "new URL('./gone.txt', import.meta.url)"
const urls = [new URL('./a.txt', import.meta.url), new URL(
  './a.txt',
  import.meta.url
), new URL('./b.txt', 'file:///x/')]; const fail = () => { throw new Error('here') }
export default class Sample {
  async handle() {
    try { fail() } catch (error: any) { return [text, await readFile(urls[1]!, 'utf8'), String(urls[2]), error.stack] }
  }
}
`,
    'src/a.txt': 'a',
  })
  const { release, diagnostics } = await buildRelease({
    ...options,
    root: project.root,
    definition: defineActions('src/a.ts'),
  })
  assert.deepEqual(diagnostics, [])
  const [[text, read, other, stack]] = (await run(release!)) as [[string, string, string, string]]
  assert.deepEqual([text, read, other], ["new URL('./gone.txt', import.meta.url)", 'a', 'file:///x/b.txt'])
  assert.match(resolveStack(stack), /src\/a\.ts:7:66/)
})

test('a file is carried once, the same in any folder, and its code is another when it changes', async () => {
  const files = {
    'src/a.ts': actionReturning('url', `const url = new URL('./x.txt', import.meta.url)`),
    'src/b.ts': actionReturning('url', `const url = new URL('./x.txt', import.meta.url)`),
    'src/x.txt': 'one',
  }
  const definition = defineActions('src/a.ts', 'src/b.ts')
  await using one = await makeProject(files)
  await using two = await makeProject(files, 'elsewhere')
  const [first, second] = await Promise.all(
    [one, two].map(({ root }) => buildRelease({ ...options, root, definition })),
  )
  assert.deepEqual(first!.release, second!.release)
  await two.write('src/x.txt', 'two')
  const third = await buildRelease({ ...options, root: two.root, definition })
  assert.notDeepEqual(first!.release!.manifest.routes, third.release!.manifest.routes)
})

test('in development an edit of such a file is built, and its other users stay as they are', async () => {
  const reading = (name: string) =>
    actionReturning('readFile(url, "utf8")', `${readers}const url = new URL('./${name}', import.meta.url)`)
  await using project = await makeProject({
    'src/a.ts': reading('a.txt'),
    'src/b.ts': reading('b.txt'),
    'src/c.ts': actionReturning('1'),
    'src/a.txt': 'a1',
    'src/b.txt': 'b1',
  })
  const builder = openBuilder({ ...options, root: project.root, isDevelopment: true })
  const definition = defineActions('src/a.ts', 'src/b.ts', 'src/c.ts')
  const build = async (...changed: string[]) => {
    const { release, assets, diagnostics } = await builder.build(definition, { changed: new Set(changed) })
    assert.deepEqual([...assets].toSorted(), ['src/a.txt', 'src/b.txt'])
    return release === undefined ? diagnostics.map(({ message }) => message) : run(release)
  }
  assert.deepEqual(await run((await builder.build(definition)).release!), ['a1', 'b1', 1])
  await project.write('src/a.txt', 'a2')
  assert.deepEqual(await build('src/a.txt'), ['a2', 'b1', 1])
  await project.write('src/c.ts', actionReturning('2'))
  assert.deepEqual(await build('src/c.ts'), ['a2', 'b1', 2])
  await project.write('src/a.ts', reading('a.txt').replace('Sample', 'Other'))
  assert.deepEqual(await build('src/a.ts'), ['a2', 'b1', 2])
  await project.write('src/b.txt', 'b2')
  assert.deepEqual(await build('src/b.txt'), ['a2', 'b2', 2])
  await builder.close()
})

test('a reference to a missing asset is rejected at its position', async () => {
  const names = [
    './gone.txt', './folder', '../../outside.txt', './link.txt', '../.env', '../.git/config', './a.txt?raw', './big.bin',
  ] // prettier-ignore
  await using project = await makeProject({
    'src/a.ts': actionReturning(
      'urls',
      `const urls = [\n${names.map((name) => `  new URL('${name}', import.meta.url)`).join(',\n')}\n]`,
    ),
    'src/a.txt': 'a',
    '.env': 'SECRET=1',
    '.git/config': '',
    'src/big.bin': 'x'.repeat(10 * 1024 ** 2 + 1),
  })
  await mkdir(path.join(project.root, 'src/folder'))
  await writeFile(path.join(project.outer, 'outside.txt'), 'secret')
  await symlink(path.join(project.outer, 'outside.txt'), path.join(project.root, 'src/link.txt'))
  const { release, diagnostics } = await buildRelease({
    ...options,
    root: project.root,
    definition: defineActions('src/a.ts'),
  })
  assert.equal(release, undefined)
  assert.deepEqual(
    diagnostics.map(({ code, message, file, range }) => [
      `${file}:${range.start.line}:${range.start.column}`,
      code,
      message,
    ]),
    [
      ['WP_BUILD_FILE_REFUSED', 'Cannot read NAME: it does not exist'],
      ['WP_BUILD_FILE_REFUSED', 'Cannot read NAME: it is a folder'],
      ['WP_BUILD_OUTSIDE', 'NAME refers to a file outside the project'],
      ['WP_BUILD_OUTSIDE', 'NAME refers to a file outside the project'],
      ['WP_BUILD_FILE_REFUSED', 'Cannot read NAME: its path has a name that begins with a dot'],
      ['WP_BUILD_FILE_REFUSED', 'Cannot read NAME: its path has a name that begins with a dot'],
      ['WP_BUILD_FILE_REFUSED', 'Cannot read NAME: it has a query'],
      ['WP_BUILD_FILE_REFUSED', 'Cannot read NAME: it is larger than 10 MB'],
    ].map(([code, text], index) => [`src/a.ts:${index + 2}:11`, code, text!.replace('NAME', `"${names[index]}"`)]),
  )
})

test('all assets together are limited to the size of a release', async () => {
  const files = Array.from({ length: 4 }, (_, index) => `./${index}.bin`)
  await using project = await makeProject({
    'src/a.ts': actionReturning(
      'urls',
      `const urls = [${files.map((name) => `new URL('${name}', import.meta.url)`).join()}]`,
    ),
  })
  await Promise.all(files.map((name) => writeFile(path.join(project.root, 'src', name), randomBytes(9 * 1024 ** 2))))
  const build = () => buildRelease({ ...options, root: project.root, definition: defineActions('src/a.ts') })
  assert.deepEqual(
    (await build()).diagnostics.map(({ message }) => message),
    ['The files of static folders and those referenced with new URL have 36 MB or more; the limit is 32 MB'],
  )
  await project.write('src/0.bin', 'small')
  assert.deepEqual((await build()).diagnostics, [])
})
