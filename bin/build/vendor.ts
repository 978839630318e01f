// Writes dist/vendor/: the viewer of /docs and the client generator, each as one file, so that installing Waypost does
// not install their 300 packages; and the licences of all bundled packages.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import reference from '@scalar/fastify-api-reference'
import { build } from 'esbuild'
import Fastify from 'fastify'
import { commonJs, packagesOf } from './bundle.ts'

/** @param bundled folders of the packages that are bundled with Waypost's own modules */
export async function writeVendor(root: string, folder: string, bundled: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await writeViewer(folder)
  const packages = await bundleClientGenerator(root, folder)
  const all = new Set(['node_modules/@scalar/fastify-api-reference', ...packages, ...bundled])
  writeLicences(root, folder, [...all].toSorted())
}

/** The page of /docs is rendered by one script, which the package only provides through a route. */
async function writeViewer(folder: string): Promise<void> {
  const app = Fastify()
  await app.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, rawPayload } = await app.inject('/docs/js/scalar.js')
  await app.close()
  if (statusCode !== 200) throw new Error('@scalar/fastify-api-reference has its script somewhere else now')
  writeFileSync(path.join(folder, 'viewer.js.gz'), gzipSync(withoutNoise(rawPayload.toString('utf8')), { level: 9 }))
}

/** It would describe each integer without a description as "Integer numbers.". */
function withoutNoise(script: string): string {
  const noise = '_default:`Integer numbers.`,'
  if (script.split(noise).length !== 2) throw new Error('The viewer explains integers in another way now')
  return script.replace(noise, '')
}

/** @returns the folders of the bundled packages */
async function bundleClientGenerator(root: string, folder: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    stdin: { contents: "export { generateSource } from 'oazapfts'", resolveDir: root },
    outfile: path.join(folder, 'client-generator.js'),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    metafile: true,
    banner: { js: commonJs },
  })
  return packagesOf(Object.keys(metafile.inputs))
}

/** Writes `LICENSES.txt` with the licences of packages. */
export function writeLicences(root: string, folder: string, packages: readonly string[]): void {
  const texts = packages.map((home) => {
    const cwd = path.join(root, home)
    const { name, version, license } = JSON.parse(readFileSync(path.join(cwd, 'package.json'), 'utf8'))
    const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd })
    const text = file === undefined ? '' : `\n\n${readFileSync(path.join(cwd, file), 'utf8').trim()}`
    return `${name} ${version}, ${license}${text}\n`
  })
  writeFileSync(path.join(folder, 'LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`))
}
