/* The entry of the Ledger tab. The host loads it as a plain script; the tab itself is in modules, loaded when it is
   opened. No build step: what lies here is what runs. */
(function () {
  "use strict";

  const SDK = window.__HERMES_PLUGIN_SDK__;
  const plugins = window.__HERMES_PLUGINS__;
  if (!SDK || !plugins) return;
  const { useEffect, useState } = SDK.hooks;
  const h = SDK.React.createElement;
  const here = document.currentScript.src;

  function Ledger() {
    const [App, setApp] = useState(null);
    const [problem, setProblem] = useState("");
    useEffect(function () {
      import(new URL("app.js", here).href).then(
        function (module) { setApp(function () { return module.App; }); },
        function (error) { setProblem(String(error)); },
      );
    }, []);
    if (problem) return h("p", { role: "alert" }, "The Ledger tab could not be loaded: " + problem);
    return App ? h(App) : h("p", null, "Loading…");
  }

  plugins.register("agent-ledger", Ledger);
})();
