// Writes dist/vendor/: the client generator as one file, so that installing Waypost does not install its packages; and the
// licences of all bundled packages.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { commonJs, packagesOf } from './bundle.ts'

/** @param bundled folders of the packages that are bundled with Waypost's own modules */
export async function writeVendor(root: string, folder: string, bundled: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const packages = await bundleClientGenerator(root, folder)
  writeLicences(root, folder, [...new Set([...packages, ...bundled])].toSorted())
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
