// Writes dist/vendor/: what Waypost carries of other packages, each as one file, so that who installs Waypost does not
// install the 300 packages that they are made of.
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import reference from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

export async function writeVendor(root: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await writeViewer(folder)
  const packages = bundleClientGenerator(root, folder)
  const many = carried.flatMap((name) =>
    bundle(root, path.join(folder, `${name}.js`), `export * from '${name}'`, keepNames),
  )
  for (const name of carried) useCarried(path.dirname(folder), name)
  writeLicences(root, folder, ['node_modules/@scalar/fastify-api-reference', ...packages, ...many])
}

/** Packages of some hundred modules, which would cost every start of a server more than all that they do. */
const carried = ['kysely', 'typebox']

// Stacks go through them.
const keepNames = ['--minify-whitespace', '--minify-syntax']

/** Has compiled modules import the one file of a package instead. */
function useCarried(dist: string, name: string): void {
  for (const file of globSync('**/*.js', { cwd: dist, exclude: ['vendor/**'] })) {
    const text = readFileSync(path.join(dist, file), 'utf8')
    const to = path.posix.relative(path.posix.dirname(file), `vendor/${name}.js`)
    const changed = text.replaceAll(` from '${name}'`, ` from '${to.startsWith('.') ? to : `./${to}`}'`)
    if (changed !== text) writeFileSync(path.join(dist, file), changed)
  }
}

/** The page of /docs is drawn by one script, which the package hands out by a route and in no other way. */
async function writeViewer(folder: string): Promise<void> {
  const app = Fastify()
  await app.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, rawPayload } = await app.inject('/docs/js/scalar.js')
  await app.close()
  if (statusCode !== 200) throw new Error('@scalar/fastify-api-reference has its script somewhere else now')
  writeFileSync(path.join(folder, 'viewer.js.gz'), gzipSync(rawPayload, { level: 9 }))
}

// What packages in CommonJS expect around them.
const commonJs =
  "import{createRequire}from'node:module';" +
  'const require=createRequire(import.meta.url),__filename=import.meta.filename,__dirname=import.meta.dirname;'

/** @returns the folders of the packages that went into it */
function bundleClientGenerator(root: string, folder: string): string[] {
  return bundle(root, path.join(folder, 'client-generator.js'), "export { generateSource } from 'oazapfts'")
}

/** @returns the folders of the packages that went into it */
function bundle(root: string, file: string, input: string, more: readonly string[] = ['--minify']): string[] {
  const metafile = `${file}.meta.json`
  const { status } = spawnSync(
    path.join(root, 'node_modules/.bin/esbuild'),
    [
      '--bundle',
      ...more,
      '--platform=node',
      '--format=esm',
      '--log-level=error',
      `--banner:js=${commonJs}`,
      `--metafile=${metafile}`,
      `--outfile=${file}`,
    ],
    { cwd: root, input, stdio: ['pipe', 'inherit', 'inherit'] },
  )
  if (status !== 0) process.exit(1)
  const { inputs } = JSON.parse(readFileSync(metafile, 'utf8')) as { inputs: Record<string, unknown> }
  rmSync(metafile)
  const homes = Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  return [...new Set(homes)].toSorted()
}

function writeLicences(root: string, folder: string, packages: readonly string[]): void {
  const texts = packages.map((home) => {
    const cwd = path.join(root, home)
    const { name, version, license } = JSON.parse(readFileSync(path.join(cwd, 'package.json'), 'utf8'))
    const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd })
    const text = file === undefined ? '' : `\n\n${readFileSync(path.join(cwd, file), 'utf8').trim()}`
    return `${name} ${version}, ${license}${text}\n`
  })
  writeFileSync(path.join(folder, 'LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`))
}
