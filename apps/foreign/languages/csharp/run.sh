dotnet built/FirstPlant.dll "$@"
