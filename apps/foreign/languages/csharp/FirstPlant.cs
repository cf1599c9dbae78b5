using System;
using Newtonsoft.Json;
using Org.OpenAPITools.Api;
using Org.OpenAPITools.Client;
using Org.OpenAPITools.Model;

public static class FirstPlant
{
    public static void Main(string[] args)
    {
        var plants = new PlantsApi(new Configuration
        {
            BasePath = Environment.GetEnvironmentVariable("PLANT_STORE_BASE_URL"),
            AccessToken = Environment.GetEnvironmentVariable("PLANT_STORE_TOKEN"),
        });
        try
        {
            var plant = new NewPlant(id: long.Parse(args[0]), name: args[1], tag: "indoor");
            var stored = plants.CreatePlant(plant);
            Console.WriteLine(JsonConvert.SerializeObject(new { stored }));
        }
        catch (ApiException refusal)
        {
            Console.WriteLine(refusal.ErrorContent);
        }
    }
}
