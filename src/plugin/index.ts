// plugin: loads plugins, checks them and describes them as data. Depends on the contract, never on a plugin.
// May import kit and contract.
export {
  assertPlugin,
  describePlugin,
  type ActionCatalog,
  type ConnectionCatalog,
  type PluginCatalog,
} from './check-plugin.ts'
export { errors as pluginErrors } from './errors.ts'
export {
  isBuiltInPlugin,
  findInstalledVersion,
  findPackage,
  loadBuiltInPlugins,
  loadHostPlugin,
  shareWaypost,
  type InstalledPackage,
} from './load-plugins.ts'
export { makePluginServices, withoutConfig, type ServicesOf } from './plugin-services.ts'
export { assertUnique, joinPlugins, type LoadedPlugin, type PluginSet, type Provided } from './plugin-set.ts'
export { makeConfigPreparer, type PrepareConfig, type PreparedConfig } from './prepare-config.ts'
export { trackUse } from './track-use.ts'
