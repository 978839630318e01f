// Bundles the compiled modules into few files, so that a command loads dozens of modules instead of over a thousand.
// Entries keep their path in dist/; shared code goes to dist/chunks/. Source maps point to the sources.
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build, type Plugin } from 'esbuild'
import { keepChangedNames } from './keep-names.ts'

/** Modules that are started directly or imported from outside Waypost, besides the commands. */
const entries = [
  'bin/cli/launch.js',
  'bin/cli/plugin-command.js',
  'src/index.js',
  'src/sql.js',
  'src/testing/index.js',
  'src/testing/create-test-app.js',
  'src/testing/load-plugin-child.js',
  'src/release/load-artifacts.js',
  'src/backend/deploy/body-worker.js',
  'src/backend/draft/thread/draft-worker.js',
  'src/store/sql/scan-worker.js',
  'src/jobs/listeners/listener-child.js',
  'src/build/check-modules-child.js',
  'src/build/plugins/describe-child.js',
]

/** Packages that are not bundled: esbuild, which is a program, and optional packages that a user may install. */
const external = ['@opentelemetry/*', 'esbuild', 'pg-native', 'typescript', '*vendor/client-generator.js']

/** The plugins that ship with Waypost import the package by its name. */
const builtInPlugins: Plugin = {
  name: 'built-in plugins',
  setup({ initialOptions, onResolve }) {
    const file = (name: string) => path.join(initialOptions.absWorkingDir!, name)
    onResolve({ filter: /^waypost$/ }, () => ({ path: file('src/index.js') }))
    onResolve({ filter: /^waypost\/sql$/ }, () => ({ path: file('src/sql.js') }))
    onResolve({ filter: /^@waypost\/plugin-/ }, ({ path: name }) => ({
      path: path.join(root, 'plugins', name.slice('@waypost/plugin-'.length), 'src/index.ts'),
    }))
  },
}

const root = path.resolve(import.meta.dirname, '../..')

const ownRequire = /^[ \t]*const require = createRequire\(import\.meta\.url\);$/m

/**
 * Modules that load a package on first use make a `require` of their own, whose packages esbuild would not bundle. It
 * bundles those of the `require` that CommonJS has.
 */
const lateRequires: Plugin = {
  name: 'late requires',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.js$/ }, ({ path: file }) => {
      if (file.includes('/node_modules/')) return undefined
      const text = readFileSync(file, 'utf8')
      return ownRequire.test(text) ? { contents: text.replace(ownRequire, ''), loader: 'js' } : undefined
    })
  },
}

// Globals that CommonJS packages expect.
export const commonJs =
  "import{createRequire as __createRequire}from'node:module';" +
  'const require=__createRequire(import.meta.url),__filename=import.meta.filename,__dirname=import.meta.dirname;'

/**
 * Bundles the compiled modules of a folder in place and removes the bundled ones.
 * @returns the folders of the bundled packages
 */
export async function bundle(fresh: string): Promise<string[]> {
  const outdir = `${fresh}.bundle`
  const commands = globSync('commands/**/*.js', { cwd: fresh })
  const { metafile } = await build({
    absWorkingDir: fresh,
    entryPoints: [...entries, ...commands].map((file) => path.join(fresh, file)),
    outbase: fresh,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    chunkNames: 'chunks/[name]-[hash]',
    minifyWhitespace: true,
    minifySyntax: true,
    keepNames: true,
    sourcemap: true,
    metafile: true,
    logLevel: 'warning',
    external,
    plugins: [builtInPlugins, lateRequires],
    banner: { js: commonJs },
  })
  for (const file of globSync('{bin,commands,src}/**/*.{js,js.map}', { cwd: fresh })) rmSync(path.join(fresh, file))
  dropPackageSources(outdir)
  keepChangedNames(outdir)
  cpSync(outdir, fresh, { recursive: true })
  rmSync(outdir, { recursive: true })
  return packagesOf(Object.keys(metafile.inputs))
}

/** Returns the folders of the packages that contain the files, relative to the repository. */
export function packagesOf(files: readonly string[]): string[] {
  const homes = files.flatMap((file) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  return [...new Set(homes)].toSorted()
}

/**
 * Removes the sources of packages from source maps, where they would be most of the published package, and maps that
 * only contain packages.
 */
function dropPackageSources(folder: string): void {
  for (const name of globSync('**/*.js.map', { cwd: folder })) {
    const file = path.join(folder, name)
    const map = JSON.parse(readFileSync(file, 'utf8')) as SourceMap
    const isOurs = map.sources.map((source) => !source.includes('node_modules/'))
    if (isOurs.includes(true)) {
      const sourcesContent = map.sourcesContent.map((text, index) => (isOurs[index] ? text : null))
      writeFileSync(file, JSON.stringify({ ...map, sourcesContent }))
    } else {
      rmSync(file)
      const script = file.slice(0, -'.map'.length)
      writeFileSync(script, readFileSync(script, 'utf8').replace(/\/\/# sourceMappingURL=\S+\s*$/, ''))
    }
  }
}

interface SourceMap {
  readonly sources: readonly string[]
  readonly sourcesContent: readonly (string | null)[]
}
