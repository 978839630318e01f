// Builds the pages of the backend, of the portal and of the API reference (src/backend/ui) into dist/ui/: hashed files, each compressed with
// Brotli and gzip.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { packagesOf } from './bundle.ts'
import { describePackages } from './vendor.ts'

const folder = 'src/backend/ui'
/** Where the built pages are kept from build to build. */
const cache = 'node_modules/.cache/ui'

/**
 * Copies the built pages to a folder. They are built only if their sources changed since the last build, because
 * building them takes longer than everything else.
 */
export async function writeBackendUi(root: string, target: string): Promise<void> {
  const home = path.join(root, folder)
  const built = path.join(root, cache)
  const stamp = path.join(built, 'inputs')
  const inputs = hashInputs(root, home)
  const isFresh = existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs
  if (!isFresh) {
    await buildPages(root, home, built)
    writeFileSync(stamp, inputs)
  }
  cpSync(built, target, { recursive: true, filter: (file) => file !== stamp })
}

function hashInputs(root: string, home: string): string {
  const hash = createHash('sha256')
  const files = globSync('**/*', { cwd: home, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted()
  for (const file of [...files, path.join(root, 'package-lock.json'), import.meta.filename])
    hash.update(`${path.relative(root, file)}\0`).update(readFileSync(file))
  return hash.digest('hex')
}

async function buildPages(root: string, home: string, built: string): Promise<void> {
  const { build } = await import('vite')
  const fresh = `${built}.${process.pid}`
  const results = []
  // One after the other. In one build, they would share files, so that each loads code that only the other one needs.
  // The API reference consists of pages of the portal.
  for (const pages of [['index.html'], ['portal.html', 'docs.html']]) {
    results.push(
      await build({
        root: home,
        base: './', // the pages may be below a path of the server
        configFile: false,
        logLevel: 'warn',
        build: {
          outDir: fresh,
          emptyOutDir: false,
          target: 'es2023',
          cssCodeSplit: false,
          assetsInlineLimit: 0, // the policy of the pages forbids data: URLs
          modulePreload: { polyfill: false },
          reportCompressedSize: false,
          rolldownOptions: {
            input: pages.map((page) => path.join(home, page)),
            onLog(level, log, report) {
              if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log) // "use client" has no meaning here
            },
          },
        },
      }),
    )
  }
  const modules = results.flat().flatMap((one) => ('output' in one ? one.output : []))
  const packages = packagesOf(modules.flatMap((one) => ('modules' in one ? Object.keys(one.modules) : [])))
  describePackages(root, fresh, packages)
  for (const file of globSync('assets/*', { cwd: fresh })) compress(path.join(fresh, file))
  rmSync(built, { recursive: true, force: true })
  mkdirSync(built, { recursive: true })
  cpSync(fresh, built, { recursive: true })
  rmSync(fresh, { recursive: true })
}

/** Replaces a file by its compressed forms. */
function compress(file: string): void {
  const bytes = readFileSync(file)
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  rmSync(file)
}
